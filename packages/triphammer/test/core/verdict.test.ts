import { expect, it } from 'vitest'
import type { RetryPolicy } from '../../src/core/retry.ts'
import { judge } from '../../src/core/verdict.ts'

it.each<readonly [string, object]>([
  ['of no kind', { kind: 'random', baseMs: 5 }],
  ['without a base', { kind: 'fixed' }],
  ['with text for a number', { kind: 'linear', baseMs: 5, incrementMs: 'x' }],
  ['that is a number', Object(5) as object],
])('a stored policy %s, changed from outside: the default decides', (_, policy) => {
  const error = new Error('boom')
  const { outcome, policyError } = judge({
    attempt: 2,
    maxAttempts: 5,
    policy: policy as RetryPolicy,
    error,
    timedOut: false,
    random: 0.5,
  })
  expect(outcome).toEqual({ kind: 'retry', error, delayMs: 4_000 })
  expect(policyError).toBeInstanceOf(TypeError)
})
