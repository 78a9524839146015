import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ErrorCode, isTriphammerError } from '../../src/core/errors.ts'
import { cancelled, completed, retry, retryAfter, signalledOutcome, snooze } from '../../src/core/outcome.ts'
import { exponential, fibonacci, fixed, linear, retryDelay } from '../../src/core/retry.ts'
import { defineTask } from '../../src/core/task.ts'

const LONG = 'x'.repeat(129)

type Case = readonly [what: string, call: () => unknown, code: ErrorCode, words: RegExp]

function isRefused(call: () => unknown, code: ErrorCode, words: RegExp): void {
  let thrown: unknown
  try {
    call()
  } catch (error) {
    thrown = error
  }
  expect(isTriphammerError(thrown), String(thrown)).toBe(true)
  expect(thrown).toMatchObject({ code, message: expect.stringMatching(words) })
}

describe('defineTask', () => {
  it.each<Case>([
    ['no name', () => defineTask(undefined as never), 'INVALID_NAME', /name of a task must be a string, not undefined/],
    ['an empty name', () => defineTask(''), 'INVALID_NAME', /name of a task must not be empty/],
    ['a name of 129 characters', () => defineTask(LONG), 'INVALID_NAME', /has 129 characters; at most 128/],
    ['U+0000 in the name', () => defineTask('a\u0000'), 'TEXT_INVALID', /name of a task contains U\+0000/],
    ['a lone surrogate in the name', () => defineTask('\ud83d'), 'TEXT_INVALID', /name of a task contains a lone surrogate/],
    [
      'an unknown option',
      () => defineTask('t', { retries: 3 } as never),
      'UNKNOWN_OPTION',
      /task t: unknown option "retries"; known are input/,
    ],
    ['an option of jobs', () => defineTask('t', { delay: 3 } as never), 'UNKNOWN_OPTION', /"delay"/],
    ['a schema as options', () => defineTask('t', z.string() as never), 'UNKNOWN_OPTION', /task t: unknown option/],
    ['text as options', () => defineTask('t', 'mail' as never), 'INVALID_OPTION', /options must be an object/],
    ['no schema', () => defineTask('t', { input: {} as never }), 'INVALID_OPTION', /input is not a Standard Schema; Zod, Valibot/],
    ['null as schema', () => defineTask('t', { input: null as never }), 'INVALID_OPTION', /input is not a Standard Schema/],
    ['a queue of 129 characters', () => defineTask('t', { queue: LONG }), 'INVALID_NAME', /task t: the name of the queue has 129/],
    ['no level', () => defineTask('t', { priority: 'top' as never }), 'INVALID_OPTION', /task t: priority: "top"/],
    ['no attempts', () => defineTask('t', { maxAttempts: 0 }), 'INVALID_OPTION', /task t: maxAttempts: 0/],
    ['no time', () => defineTask('t', { timeout: 0 }), 'INVALID_DURATION', /task t: timeout: 0 is too short/],
    ['a negative time', () => defineTask('t', { timeout: '-1s' }), 'INVALID_DURATION', /task t: timeout: "-1s"/],
    ['a negative retention', () => defineTask('t', { retain: -1 }), 'INVALID_DURATION', /task t: retain: -1/],
    ['no policy', () => defineTask('t', { retry: { max: 3 } as never }), 'INVALID_OPTION', /retry must be made by.*may be a function/],
    ['a broken policy', () => defineTask('t', { retry: { ...fixed(1), factor: 0 } }), 'INVALID_OPTION', /factor: 0 is not a number of 1/],
  ])('refuses %s', (_, call, code, words) => isRefused(call, code, words))

  it('takes a name of 128 characters, any Standard Schema, and cannot be changed', () => {
    const task = defineTask('🚂'.repeat(64), { input: z.string(), queue: 'q' })
    expect(task).toMatchObject({ name: '🚂'.repeat(64), policy: { queue: 'q' } })
    expect(() => Object.assign(task, { name: 'other' })).toThrow(TypeError)
    expect(() => Object.assign(task.policy, { queue: 'other' })).toThrow(TypeError)
    const callable = Object.assign(() => {}, { '~standard': z.string()['~standard'] })
    expect(defineTask('t', { input: callable as never }).input).toBe(callable)
  })
})

describe('retry policies', () => {
  it.each<Case>([
    [
      'fixed: a typo',
      () => fixed('1s', { maximum: 5 } as never),
      'UNKNOWN_OPTION',
      /fixed: unknown option "maximum"; known are max, jitter, errors/,
    ],
    ['linear: a typo', () => linear({ base: 1, increment: 1, step: 2 } as never), 'UNKNOWN_OPTION', /linear: unknown option "step"/],
    [
      'exponential: a typo',
      () => exponential({ base: 1, multiplier: 2 } as never),
      'UNKNOWN_OPTION',
      /exponential: unknown option "multiplier"/,
    ],
    ['fibonacci: a typo', () => fibonacci({ base: 1, factor: 2 } as never), 'UNKNOWN_OPTION', /fibonacci: unknown option "factor"/],
    ['fixed: no wait', () => fixed(undefined as never), 'INVALID_DURATION', /fixed: undefined is not a duration/],
    ['fixed: a negative wait', () => fixed(-1), 'INVALID_DURATION', /fixed: -1 is too short/],
    ['linear: no options', () => linear(undefined as never), 'INVALID_OPTION', /linear: the options must be an object/],
    ['linear: no increment', () => linear({ base: 1 } as never), 'INVALID_DURATION', /linear\.increment: undefined/],
    ['exponential: no base', () => exponential({} as never), 'INVALID_DURATION', /exponential\.base: undefined/],
    [
      'exponential: a factor below 1',
      () => exponential({ base: 1, factor: 0.5 }),
      'INVALID_OPTION',
      /factor: 0\.5 is not a number of 1 or more/,
    ],
    ['exponential: a symbol', () => exponential({ base: 1, factor: Symbol('x') as never }), 'INVALID_OPTION', /factor: Symbol\(x\)/],
    ['max: negative', () => fixed(1, { max: -1 }), 'INVALID_DURATION', /max: -1/],
    ['jitter: over 1', () => fixed(1, { jitter: 1.5 }), 'INVALID_OPTION', /jitter: 1\.5 is not a share from 0 to 1; for a time write/],
    ['jitter: null', () => fixed(1, { jitter: null as never }), 'INVALID_OPTION', /jitter: null is not a share/],
    ['jitter: true', () => fixed(1, { jitter: true as never }), 'INVALID_OPTION', /jitter: true is not a share/],
    ['errors: null', () => fixed(1, { errors: null as never }), 'INVALID_OPTION', /errors: null is not an object such as/],
    ['errors: a list', () => fixed(1, { errors: ['E'] as never }), 'INVALID_OPTION', /errors: "?E"? is not an object such as/],
    ['errors: no policy', () => fixed(1, { errors: { E: null as never } }), 'INVALID_OPTION', /errors\.E: give 'dead' or a backoff/],
    ['errors: U+0000', () => fixed(1, { errors: { 'a\u0000': 'dead' } }), 'TEXT_INVALID', /errors: the name .* contains U\+0000/],
  ])('%s is refused', (_, call, code, words) => isRefused(call, code, words))

  it('a base of zero stays zero, however many attempts', () => {
    expect(retryDelay(exponential({ base: 0, factor: 10 }), 30_000, undefined, 0.5)).toBe(0)
    expect(retryDelay(exponential({ base: 1, factor: 10, max: '1h' }), 30_000, undefined, 0.5)).toBe(3_600_000)
  })
})

describe('outcomes', () => {
  it.each<Case>([
    ['retry: a typo', () => retry('no', { after: 5 } as never), 'UNKNOWN_OPTION', /retry: unknown option "after"/],
    ['retry: delay and at', () => retry('no', { delay: 5, at: 5 }), 'INVALID_OPTION', /retry: give delay or at, not both/],
    ['retry: a negative delay', () => retry('no', { delay: -5 }), 'INVALID_DURATION', /retry: delay: -5/],
    ['retry: no moment', () => retry('no', { at: 'soon' }), 'INVALID_OPTION', /retry: at: "soon" is not a moment/],
    ['snooze: negative', () => snooze(-1), 'INVALID_DURATION', /snooze: -1/],
    ['snooze: nothing', () => snooze(undefined as never), 'INVALID_DURATION', /snooze: undefined is not a duration/],
    ['retryAfter: negative', () => retryAfter('-1s'), 'INVALID_DURATION', /retryAfter: "-1s"/],
  ])('%s is refused', (_, call, code, words) => isRefused(call, code, words))

  it('are plain data; those that are thrown are errors with one inside', () => {
    expect(completed()).toEqual({ kind: 'completed' })
    expect(completed(null)).toEqual({ kind: 'completed', result: null })
    expect(cancelled()).toEqual({ kind: 'cancelled' })
    expect(retry('no', { delay: '1.0004s' })).toEqual({ kind: 'retry', error: 'no', delayMs: 1_000 })
    expect(snooze('1s')).toBeInstanceOf(Error)
    expect(signalledOutcome(snooze('1s'))).toEqual({ kind: 'snooze', delayMs: 1_000 })
    expect(signalledOutcome(completed())).toBeUndefined()
  })
})
