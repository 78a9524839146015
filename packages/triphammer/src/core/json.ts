import type { ErrorCode } from './errors.ts'
import { isTriphammerError, TriphammerError } from './errors.ts'
import { show } from './text.ts'

/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Deeper nesting than this is refused: the least that the stores' JSON functions are sure to read. */
export const MAX_DEPTH = 500

/**
 * The JSON text of a value, or an error that names the first place which would be lost or changed on the way: functions,
 * symbols, BigInt, NaN and infinities, `undefined` in an array, cycles, Maps, Promises and the like, invalid Dates, U+0000
 * and lone surrogates. As in `JSON.stringify`, properties that are `undefined` are left out, `toJSON` is called and −0
 * becomes 0. A value of `undefined` becomes `null`.
 *
 * @param what names the value in the error, e.g. `'payload'`
 * @param maxBytes the most UTF-8 bytes the text may have
 * @throws TriphammerError `PAYLOAD_NOT_JSON`, `TEXT_INVALID`, `PAYLOAD_TOO_LARGE`
 */
export function encodeJson(value: unknown, what: string, maxBytes: number): string {
  const text = JSON.stringify(value === undefined ? null : plainData(value, what))
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

/** Where in a value the reading is. */
interface Place {
  readonly what: string
  readonly path: (string | number)[]
  /** The objects that are being read, outermost first. */
  readonly above: object[]
}

// A copy, so that getters and toJSON are asked once: what was checked is what is stored.
function plainData(value: unknown, what: string): unknown {
  const place: Place = { what, path: [], above: [] }
  try {
    return copy(value, '', place)
  } catch (error) {
    if (isTriphammerError(error)) throw error
    throw refuse('PAYLOAD_NOT_JSON', place, `could not be read: ${show(error)}`, error)
  }
}

function copy(value: unknown, key: string, place: Place): unknown {
  switch (typeof value) {
    case 'string':
      checkString(value, place)
      return value
    case 'number':
      if (Number.isFinite(value)) return value
      throw refuse('PAYLOAD_NOT_JSON', place, `is ${value}`)
    case 'boolean':
      return value
    case 'object':
      return value === null ? null : copyObject(value, key, place)
    default:
      throw refuse('PAYLOAD_NOT_JSON', place, `is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`)
  }
}

function copyObject(value: object, key: string, place: Place): unknown {
  const toJSON: unknown = 'toJSON' in value ? value.toJSON : undefined
  if (typeof toJSON !== 'function') return copyMembers(value, place)
  if (kindOf(value) === 'Date' && Number.isNaN(Number(value))) throw refuse('PAYLOAD_NOT_JSON', place, 'is an invalid Date')
  // What toJSON returns is not asked for its own toJSON, as JSON.stringify has it.
  const given: unknown = toJSON.call(value, key)
  return typeof given === 'object' && given !== null ? copyMembers(given, place) : copy(given, key, place)
}

function copyMembers(value: object, place: Place): unknown {
  const { above, path } = place
  if (above.includes(value)) throw refuse('PAYLOAD_NOT_JSON', place, 'is a cycle')
  if (above.length >= MAX_DEPTH) throw refuse('PAYLOAD_NOT_JSON', place, `is nested more than ${MAX_DEPTH} levels deep`)
  const kind = kindOf(value)
  if (kind !== 'Object' && !Array.isArray(value)) throw refuse('PAYLOAD_NOT_JSON', place, `is a ${kind}`)
  above.push(value)
  const copied = Array.isArray(value) ? copyItems(value, place) : copyProperties(value, place)
  above.pop()
  path.length = above.length
  return copied
}

function copyItems(items: readonly unknown[], place: Place): unknown[] {
  const { path } = place
  const depth = path.length
  const copied: unknown[] = []
  for (let i = 0; i < items.length; i++) {
    path[depth] = i
    copied.push(copy(items[i], String(i), place))
  }
  return copied
}

function copyProperties(value: object, place: Place): object {
  const { path } = place
  const depth = path.length
  const copied: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    path[depth] = key
    const item: unknown = value[key as keyof typeof value]
    if (item === undefined) continue
    checkString(key, place)
    const plain = copy(item, key, place)
    // Assigned, it would become the prototype.
    if (key === '__proto__') Object.defineProperty(copied, key, { value: plain, enumerable: true })
    else copied[key] = plain
  }
  return copied
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}

function checkString(value: string, place: Place): void {
  if (value.includes('\u0000')) throw refuse('TEXT_INVALID', place, 'contains U+0000, which not every store can hold')
  if (!value.isWellFormed()) throw refuse('TEXT_INVALID', place, 'contains a lone surrogate, half of a character')
}

const SHOWN_PATH = 120

function refuse(code: ErrorCode, { what, path }: Place, problem: string, cause?: unknown): TriphammerError {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
  const place = `${what}${steps.length > SHOWN_PATH ? `${steps.slice(0, SHOWN_PATH)}…` : steps}`
    .toWellFormed()
    .replaceAll('\u0000', '\\u0000')
  return new TriphammerError(code, `${place} ${problem}; only JSON can be stored`, cause === undefined ? undefined : { cause })
}
