import { describe, expect, it } from 'vitest'
import { TriphammerError } from '../../src/core/errors.ts'
import {
  DEFAULT_RETRY,
  exponential,
  fibonacci,
  fixed,
  linear,
  MAX_RETRY_MS,
  type RetryFunction,
  type RetryPolicy,
  retryDelay,
} from '../../src/core/retry.ts'

// The waits after attempts 1, 2, 3 …
function waits(policy: RetryPolicy, count: number, random = 0.5): (number | undefined)[] {
  return Array.from({ length: count }, (_, n) => retryDelay(policy, n + 1, undefined, random))
}

describe('backoff', () => {
  it('fixed', () => {
    expect(waits(fixed('30s'), 3)).toEqual([30_000, 30_000, 30_000])
  })

  it('linear', () => {
    expect(waits(linear({ base: '10s', increment: '5s' }), 4)).toEqual([10_000, 15_000, 20_000, 25_000])
  })

  it('exponential', () => {
    expect(waits(exponential({ base: '2s' }), 5)).toEqual([2_000, 4_000, 8_000, 16_000, 32_000])
    expect(waits(exponential({ base: 1_000, factor: 1.5 }), 4)).toEqual([1_000, 1_500, 2_250, 3_375])
  })

  it('fibonacci', () => {
    expect(waits(fibonacci({ base: '1s' }), 8)).toEqual([1, 1, 2, 3, 5, 8, 13, 21].map((n) => n * 1_000))
  })

  it('is capped, by its own maximum and by a year', () => {
    expect(waits(exponential({ base: '2s', max: '10s' }), 5)).toEqual([2_000, 4_000, 8_000, 10_000, 10_000])
    for (const policy of [exponential({ base: '2s' }), fibonacci({ base: '1s' }), linear({ base: 0, increment: '52w' })]) {
      expect(retryDelay(policy, 32_767, undefined, 0.5)).toBe(MAX_RETRY_MS)
    }
  })

  it('jitter as a share spreads to both sides, as a time it adds', () => {
    const share = fixed('10s', { jitter: 0.2 })
    expect([0, 0.5, 0.75].map((random) => retryDelay(share, 1, undefined, random))).toEqual([8_000, 10_000, 11_000])
    const time = fixed('10s', { jitter: '4s' })
    expect([0, 0.5, 0.75].map((random) => retryDelay(time, 1, undefined, random))).toEqual([10_000, 12_000, 13_000])
  })

  it('jitter never goes beyond the maximum, and waits are whole milliseconds', () => {
    expect(retryDelay(fixed('10s', { jitter: 1, max: '12s' }), 1, undefined, 0.999)).toBe(12_000)
    expect(retryDelay(fixed(1, { jitter: 1 }), 1, undefined, 0.7)).toBe(1)
  })

  it('of a job of which nothing was said: 2 s, doubled up to 6 h, give or take a fifth', () => {
    expect(waits(DEFAULT_RETRY, 3)).toEqual([2_000, 4_000, 8_000])
    expect(retryDelay(DEFAULT_RETRY, 25, undefined, 0.5)).toBe(21_600_000)
    expect(retryDelay(DEFAULT_RETRY, 1, undefined, 0)).toBe(1_600)
  })

  it('is plain data that survives JSON', () => {
    const policy = exponential({ base: '2s', max: '1h', jitter: 0.2, errors: { E_RATE: fixed('1m', { jitter: '1s' }), TypeError: 'dead' } })
    expect(JSON.parse(JSON.stringify(policy))).toEqual(policy)
  })
})

describe('retry by error', () => {
  class HttpError extends Error {}
  class TooMany extends HttpError {
    override name = 'TooManyRequests'
    readonly code = 'E_429'
  }
  const after = (errors: Record<string, RetryPolicy | 'dead'>, error: unknown): number | undefined =>
    retryDelay(fixed('1s', { errors }), 1, error, 0.5)

  it('by code, then name, then class', () => {
    const [code, name, own, base] = [fixed('1m'), fixed('2m'), fixed('3m'), fixed('4m')]
    expect(after({ HttpError: base, TooMany: own, TooManyRequests: name, E_429: code }, new TooMany())).toBe(60_000)
    expect(after({ HttpError: base, TooMany: own, TooManyRequests: name }, new TooMany())).toBe(120_000)
    expect(after({ HttpError: base, TooMany: own }, new TooMany())).toBe(180_000)
    expect(after({ HttpError: base }, new TooMany())).toBe(240_000)
    expect(after({ Error: base }, new TooMany())).toBe(240_000)
    expect(after({ Other: base }, new TooMany())).toBe(1_000)
  })

  it("'dead' is not again", () => {
    expect(after({ TypeError: 'dead' }, new TypeError('no'))).toBeUndefined()
    expect(after({ TIMED_OUT: 'dead' }, new TriphammerError('TIMED_OUT', 'too slow'))).toBeUndefined()
  })

  it.each([undefined, null, 'text', 7, Object.create(null), { code: 7 }, { name: 'constructor' }, { code: '__proto__' }])(
    'what is no error, or has the name of something that every object has, is an ordinary one: %j',
    (thrown) => {
      expect(after({ TypeError: 'dead' }, thrown)).toBe(1_000)
    },
  )
})

describe('a retry function', () => {
  it('is asked with the attempt and the error', () => {
    const asked: unknown[] = []
    const policy: RetryFunction = (attempt, error) => {
      asked.push(attempt, error)
      return '5s'
    }
    expect(retryDelay(policy, 3, 'boom', 0.5)).toBe(5_000)
    expect(asked).toEqual([3, 'boom'])
  })

  it('answers false for no more, and is capped and checked as everything else', () => {
    expect(retryDelay(() => false, 1, undefined, 0)).toBeUndefined()
    expect(retryDelay(() => '90w', 1, undefined, 0)).toBe(MAX_RETRY_MS)
    expect(() => retryDelay(() => -1, 1, undefined, 0)).toThrow(expect.objectContaining({ code: 'INVALID_DURATION' }))
  })
})

describe('a policy is checked when it is made', () => {
  it.each([
    ['UNKNOWN_OPTION', () => fixed('1s', { jiter: 1 } as object)],
    ['UNKNOWN_OPTION', () => linear({ base: 1, increment: 1, factor: 2 } as never)],
    ['INVALID_DURATION', () => fixed('soon')],
    ['INVALID_DURATION', () => exponential({ base: '1s', max: -1 })],
    ['INVALID_OPTION', () => exponential({ base: '1s', factor: 0.5 })],
    ['INVALID_OPTION', () => exponential({ base: '1s', factor: Number.NaN })],
    ['INVALID_OPTION', () => fixed('1s', { jitter: 1.5 })],
    ['INVALID_OPTION', () => fixed('1s', { jitter: -0.1 })],
    ['INVALID_DURATION', () => fixed('1s', { jitter: 'a little' })],
    ['INVALID_OPTION', () => fixed('1s', { errors: { E: fixed('1s', { errors: { F: 'dead' } }) } })],
    ['INVALID_OPTION', () => fixed('1s', { errors: { E: 'never' as 'dead' } })],
  ])('%s', (code, make) => {
    expect(make).toThrow(expect.objectContaining({ code }))
  })
})
