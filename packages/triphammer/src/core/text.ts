import { TriphammerError } from './errors.ts'

/** The longest name of a task, a queue or a person, in characters (UTF-16 code units). */
const MAX_NAME_LENGTH = 128

/**
 * Refuses text that one of the stores could not hold: U+0000 (PostgreSQL) or a lone surrogate (no valid UTF-8).
 *
 * @throws TriphammerError `TEXT_INVALID`
 */
export function checkText(value: string, what: string): void {
  if (value.includes('\u0000')) {
    throw new TriphammerError('TEXT_INVALID', `${what} contains U+0000, which not every store can hold; remove it or encode the text`)
  }
  if (!value.isWellFormed()) {
    throw new TriphammerError(
      'TEXT_INVALID',
      `${what} contains a lone surrogate, half of a character; repair it with toWellFormed() or encode the text`,
    )
  }
}

/**
 * Checks the name of a task, a queue, a person.
 *
 * @throws TriphammerError `INVALID_NAME`: not a string, empty or over 128 characters; `TEXT_INVALID`
 */
export function checkName(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new TriphammerError('INVALID_NAME', `${what} must be a string, not ${typeof value}`)
  if (value.length === 0) throw new TriphammerError('INVALID_NAME', `${what} must not be empty`)
  if (value.length > MAX_NAME_LENGTH) {
    throw new TriphammerError('INVALID_NAME', `${what} has ${value.length} characters; at most ${MAX_NAME_LENGTH} are allowed`)
  }
  checkText(value, what)
  return value
}

/** The longest reason, in characters (UTF-16 code units). */
const MAX_REASON_LENGTH = 2_000

/**
 * Checks a reason that a person gave; it may be empty.
 *
 * @throws TriphammerError `INVALID_OPTION`: not a string or over 2,000 characters; `TEXT_INVALID`
 */
export function checkReason(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new TriphammerError('INVALID_OPTION', `${what} must be text, not ${typeof value}`)
  if (value.length > MAX_REASON_LENGTH) {
    throw new TriphammerError('INVALID_OPTION', `${what} has ${value.length} characters; at most ${MAX_REASON_LENGTH} are allowed`)
  }
  checkText(value, what)
  return value
}

const SHOWN = 80

/** Any value as an error message shows it: text in quotes, nothing at length, and never an error of its own. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value))
  try {
    return cut(String(value))
  } catch {
    return `a value of type ${typeof value}`
  }
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()}…` : text
}
