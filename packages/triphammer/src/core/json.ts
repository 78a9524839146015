import type { ErrorCode } from './errors.ts'
import { TriphammerError } from './errors.ts'

/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Deeper nesting than this is refused: the least that the stores' JSON functions are sure to read. */
export const MAX_DEPTH = 500

/**
 * The JSON text of a value, or an error that names the first place which would be lost or changed on the way: functions,
 * symbols, BigInt, NaN and infinities, `undefined` in an array, cycles, Maps, Promises and the like, U+0000 and lone
 * surrogates. As in `JSON.stringify`, properties that are `undefined` are left out and `toJSON` is called. A value of
 * `undefined` becomes `null`.
 *
 * @param what names the value in the error, e.g. `'payload'`
 * @param maxBytes the most UTF-8 bytes the text may have
 * @throws TriphammerError `PAYLOAD_NOT_JSON`, `TEXT_INVALID`, `PAYLOAD_TOO_LARGE`
 */
export function encodeJson(value: unknown, what: string, maxBytes: number): string {
  if (value === undefined) return 'null'
  check(value, '', what, [])
  const text = JSON.stringify(value)
  // A string of n code units has at least n and at most 3n bytes: most texts need no count.
  if (text.length * 3 > maxBytes) {
    const bytes = Buffer.byteLength(text)
    if (bytes > maxBytes) {
      throw new TriphammerError(
        'PAYLOAD_TOO_LARGE',
        `${what} has ${bytes} bytes of JSON; the limit is ${maxBytes}. Keep large data elsewhere and pass a reference, or raise the limit`,
      )
    }
  }
  return text
}

function check(value: unknown, path: string, what: string, above: unknown[]): void {
  switch (typeof value) {
    case 'string':
      return checkString(value, path, what)
    case 'number':
      if (Number.isFinite(value)) return
      throw refuse('PAYLOAD_NOT_JSON', what, path, `is ${value}`)
    case 'boolean':
      return
    case 'object':
      return value === null ? undefined : checkObject(value, path, what, above)
    default:
      throw refuse('PAYLOAD_NOT_JSON', what, path, `is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`)
  }
}

function checkObject(value: object, path: string, what: string, above: unknown[]): void {
  if (above.includes(value)) throw refuse('PAYLOAD_NOT_JSON', what, path, 'is a cycle')
  if (above.length >= MAX_DEPTH) throw refuse('PAYLOAD_NOT_JSON', what, path.slice(0, 60), `is nested more than ${MAX_DEPTH} levels deep`)
  above.push(value)
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    check(value.toJSON(path), path, what, above)
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) check(value[i], `${path}[${i}]`, what, above)
  } else {
    const kind = Object.prototype.toString.call(value).slice(8, -1)
    if (kind !== 'Object') throw refuse('PAYLOAD_NOT_JSON', what, path, `is a ${kind}`)
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue
      const at = `${path}.${key}`
      checkString(key, at, what)
      check(item, at, what, above)
    }
  }
  above.pop()
}

function checkString(value: string, path: string, what: string): void {
  if (value.includes('\u0000')) throw refuse('TEXT_INVALID', what, path, 'contains U+0000, which not every store can hold')
  if (!value.isWellFormed()) throw refuse('TEXT_INVALID', what, path, 'contains a lone surrogate, half of a character')
}

function refuse(code: ErrorCode, what: string, path: string, problem: string): TriphammerError {
  const place = `${what}${path}`.toWellFormed().replaceAll('\u0000', '\\u0000')
  return new TriphammerError(code, `${place} ${problem}; only JSON can be stored`)
}
