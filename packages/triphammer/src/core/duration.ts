import { TriphammerError } from './errors.ts'
import { show } from './text.ts'

/** A length of time: milliseconds, or text such as `'500ms'`, `'30s'`, `'5m'`, `'1h 30m'`, `'7d'`, `'2w'`. */
export type Duration = number | string

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
const PART = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g
const WHOLE = /^\s*(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)\s*)+$/

/** The longest duration that is accepted: 100 years, so that an instant plus a duration stays a safe integer. */
export const MAX_DURATION_MS: number = 100 * 365 * UNIT_MS['d']!

/**
 * Whole milliseconds of a {@link Duration}; stores keep no parts of one.
 *
 * @param what names the option in the error, e.g. `'delay'`
 * @param min the least value allowed, in milliseconds (default 0)
 * @throws TriphammerError `INVALID_DURATION`: not a duration, below `min`, or over 100 years
 */
export function parseDuration(value: Duration, what: string, min = 0): number {
  const ms = typeof value === 'string' ? textToMs(value) : value
  if (typeof ms !== 'number' || !Number.isFinite(ms)) {
    throw new TriphammerError(
      'INVALID_DURATION',
      `${what}: ${show(value)} is not a duration; give milliseconds or text such as '500ms', '30s', '5m', '1h 30m' or '7d'`,
    )
  }
  if (ms < min) {
    const least = min === 0 ? 'must not be negative' : `must be at least ${min} ms`
    throw new TriphammerError('INVALID_DURATION', `${what}: ${show(value)} is too short; it ${least}`)
  }
  if (ms > MAX_DURATION_MS) {
    throw new TriphammerError('INVALID_DURATION', `${what}: ${show(value)} is longer than 100 years`)
  }
  return Math.round(ms)
}

function textToMs(text: string): number {
  if (!WHOLE.test(text)) return Number.NaN
  let ms = 0
  for (const [, amount, unit] of text.matchAll(PART)) ms += Number(amount) * UNIT_MS[unit!]!
  return ms
}
