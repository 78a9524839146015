/**
 * Every code a {@link TriphammerError} can carry. A code is literal and stable: programs may switch on it, and
 * `docs/errors.md` lists each with its way out.
 */
export const ERROR_CODES = [
  // Input, refused before anything is written
  'UNKNOWN_OPTION',
  'INVALID_OPTION',
  'INVALID_NAME',
  'INVALID_DURATION',
  'INVALID_ID',
  'PAYLOAD_INVALID',
  'PAYLOAD_NOT_JSON',
  'PAYLOAD_TOO_LARGE',
  'TEXT_INVALID',
  'SYNC_UNSUPPORTED',
  'LOAD_FAILED',
  // Wiring
  'DUPLICATE_TASK',
  'DUPLICATE_HANDLER',
  'NO_HANDLER',
  'FACET_MISSING',
  'WORKER_STATE',
  // Stores
  'SCHEMA_MISSING',
  'SCHEMA_TOO_NEW',
  'NOT_A_DATABASE',
  'DRIVER_MISSING',
  'STORE_BUSY',
  'STORE_UNAVAILABLE',
  'STORE_REFUSED',
  'STORE_CLOSED',
  'TX_UNSUPPORTED',
  'TX_NOT_OPEN',
  'TX_CONFLICT',
  // Runs
  'LEASE_EXPIRED',
  'LEASE_LOST',
  'TIMED_OUT',
  'CANCELLED',
  'SHUTDOWN',
  'COMMIT_MISSING',
  'RESULT_INVALID',
  'PAYLOAD_UNREADABLE',
] as const

/**
 * What a {@link TriphammerError} can carry. Codes are stable; `docs/errors.md` lists each with its way out.
 *
 * @useDeclaredType
 */
export type ErrorCode = (typeof ERROR_CODES)[number]

const BRAND = Symbol.for('triphammer.error')

/**
 * The one error type of this library. `message` names the thing and the way out, `code` is for programs, `cause` holds
 * what lay beneath.
 *
 * @example
 * try { await jobs.enqueue(sendEmail, payload) } catch (error) {
 *   if (isTriphammerError(error, 'PAYLOAD_INVALID')) return badRequest(error.message)
 *   throw error
 * }
 */
export class TriphammerError extends Error {
  /** Literal and stable: programs may switch on it. */
  readonly code: ErrorCode

  /** For the library itself: a program of yours throws errors of its own. */
  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'TriphammerError'
    this.code = code
    Object.defineProperty(this, BRAND, { value: true })
  }
}

/**
 * Whether `error` is a {@link TriphammerError}, with `code` if one is given. Recognised by a brand and not by
 * `instanceof`, so that two copies of the library in one process understand each other. It never throws, whatever was thrown.
 *
 * @example if (isTriphammerError(error, 'PAYLOAD_INVALID')) return badRequest(error.message)
 */
export function isTriphammerError(error: unknown, code?: ErrorCode): error is TriphammerError {
  try {
    if (typeof error !== 'object' || error === null || !(BRAND in error)) return false
    return code === undefined || ('code' in error && error.code === code)
  } catch {
    return false // a Proxy that does not want to be looked at
  }
}
