import { TriphammerError } from './errors.ts'
import { show } from './text.ts'

/**
 * Refuses anything that is not a plain options object with known keys, so that a typo is an error and not an option
 * without effect.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`
 */
export function checkOptions(value: unknown, known: readonly string[], what: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TriphammerError('INVALID_OPTION', `${what}: the options must be an object`)
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      throw new TriphammerError('UNKNOWN_OPTION', `${what}: unknown option ${show(key)}; known are ${known.join(', ')}`)
    }
  }
}

/**
 * Checks a whole number.
 *
 * @throws TriphammerError `INVALID_OPTION`: not an integer from `min` to `max`
 */
export function checkInteger(value: unknown, what: string, min: number, max: number = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  throw new TriphammerError('INVALID_OPTION', `${what}: ${show(value)} is not a whole number ${range}`)
}

/**
 * Checks a switch: text such as `'false'` would count as true.
 *
 * @throws TriphammerError `INVALID_OPTION`: neither `true` nor `false`
 */
export function checkSwitch(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value
  throw new TriphammerError('INVALID_OPTION', `${what}: ${show(value)} is neither true nor false`)
}
