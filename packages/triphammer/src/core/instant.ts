import { TriphammerError } from './errors.ts'
import { show } from './text.ts'

/** A moment: a `Date`, milliseconds since the Unix epoch, ISO 8601 text, or a `Temporal` instant or zoned date-time. */
export type Instant = Date | number | string | { readonly epochMilliseconds: number }

// Year 9999: the last that every store and ISO 8601 can write down.
const MAX_MS = Date.UTC(9999, 11, 31)
const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))?$/

/**
 * Milliseconds since the epoch. Text must be a date (midnight UTC) or carry its offset: a local time would mean another
 * moment on another machine.
 *
 * @throws TriphammerError `INVALID_OPTION`: not a moment between the years 1970 and 9999
 */
export function parseInstant(value: Instant, what: string): number {
  const ms = toMs(value)
  if (Number.isFinite(ms) && ms >= 0 && ms <= MAX_MS) return Math.trunc(ms)
  throw new TriphammerError(
    'INVALID_OPTION',
    `${what}: ${show(value)} is not a moment; give a Date, milliseconds since 1970 or ISO text with an offset such as '2026-03-01T08:00:00Z'`,
  )
}

function toMs(value: Instant): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return ISO.test(value) && isDay(value.slice(0, 10)) ? Date.parse(value) : Number.NaN
  if (value instanceof Date) return value.getTime()
  return typeof value === 'object' && value !== null && 'epochMilliseconds' in value ? value.epochMilliseconds : Number.NaN
}

// Date.parse takes the 30th of February for the 2nd of March.
function isDay(day: string): boolean {
  const ms = Date.parse(day)
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(day)
}
