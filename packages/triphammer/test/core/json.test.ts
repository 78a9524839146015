import { describe, expect, it } from 'vitest'
import { encodeJson, MAX_DEPTH } from '../../src/core/json.ts'
import { checkName, checkText } from '../../src/core/text.ts'

const MANY = 1_048_576
const encode = (value: unknown, maxBytes = MANY): string => encodeJson(value, 'payload', maxBytes)

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let n = 0; n < depth; n++) value = [value]
  return value
}

describe('encodeJson', () => {
  it.each([null, true, 0, -1.5, '', 'ü 🚂', [], {}, [1, [2, { a: null }]], { a: { b: ['c'] } }])('%j as it is', (value) => {
    expect(JSON.parse(encode(value))).toEqual(value)
  })

  it('as JSON does: undefined is null, undefined properties are left out, toJSON is called', () => {
    expect(encode(undefined)).toBe('null')
    expect(encode({ a: undefined, b: 1 })).toBe('{"b":1}')
    expect(encode({ at: new Date(0), own: { toJSON: () => 'mine' } })).toBe('{"at":"1970-01-01T00:00:00.000Z","own":"mine"}')
  })

  it('keys that objects have by themselves are keys like others', () => {
    const text = '{"__proto__":{"a":1},"constructor":2}'
    expect(encode(JSON.parse(text))).toBe(text)
  })

  it('one object in two places is no cycle', () => {
    const shared = { a: 1 }
    expect(encode([shared, shared])).toBe('[{"a":1},{"a":1}]')
  })

  const cycle: { self?: unknown } = {}
  cycle.self = [cycle]

  it.each<readonly [string, unknown, string, RegExp]>([
    ['a function', { a: { f: () => {} } }, 'PAYLOAD_NOT_JSON', /^payload\.a\.f is a function/],
    ['a symbol', [Symbol('x')], 'PAYLOAD_NOT_JSON', /^payload\[0\] is a symbol/],
    ['a BigInt', { n: 1n }, 'PAYLOAD_NOT_JSON', /^payload\.n is a bigint/],
    ['NaN', [1, Number.NaN], 'PAYLOAD_NOT_JSON', /^payload\[1\] is NaN/],
    ['infinity', -Infinity, 'PAYLOAD_NOT_JSON', /^payload is -Infinity/],
    ['undefined in an array', [undefined], 'PAYLOAD_NOT_JSON', /^payload\[0\] is undefined/],
    ['a hole', new Array(2), 'PAYLOAD_NOT_JSON', /^payload\[0\] is undefined/],
    ['a cycle', cycle, 'PAYLOAD_NOT_JSON', /is a cycle/],
    ['a Map', { m: new Map() }, 'PAYLOAD_NOT_JSON', /^payload\.m is a Map/],
    ['a promise', Promise.resolve(1), 'PAYLOAD_NOT_JSON', /^payload is a Promise/],
    ['U+0000', { a: 'x\u0000' }, 'TEXT_INVALID', /^payload\.a contains U\+0000/],
    ['U+0000 in a key', { 'a\u0000': 1 }, 'TEXT_INVALID', /U\+0000/],
    ['a lone surrogate', ['\ud800'], 'TEXT_INVALID', /^payload\[0\] contains a lone surrogate/],
    ['a lone surrogate in a key', { '\udfff': 1 }, 'TEXT_INVALID', /lone surrogate/],
    ['what toJSON returns', { a: { toJSON: () => 1n } }, 'PAYLOAD_NOT_JSON', /^payload\.a is a bigint/],
    ['too much depth', nested(MAX_DEPTH + 1), 'PAYLOAD_NOT_JSON', /nested more than 500 levels/],
  ])('refuses %s and names the place', (_, value, code, message) => {
    expect(() => encode(value)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
  })

  it('takes the deepest that is allowed', () => {
    expect(encode(nested(MAX_DEPTH))).toHaveLength(2 * MAX_DEPTH + 1)
  })

  it('counts bytes, not characters, and names both numbers', () => {
    expect(encode('a'.repeat(98), 100)).toHaveLength(100)
    expect(() => encode('a'.repeat(99), 100)).toThrow(/payload has 101 bytes of JSON; the limit is 100/)
    expect(encode('ü'.repeat(49), 100)).toHaveLength(51)
    expect(() => encode('ü'.repeat(50), 100)).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }))
    expect(() => encode('🚂'.repeat(25), 100)).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }))
  })
})

describe('names', () => {
  it.each(['a', 'send_email', 'ü 🚂', 'x'.repeat(128), '__proto__'])('%j is one', (name) => {
    expect(checkName(name, 'task')).toBe(name)
  })

  it.each([
    ['INVALID_NAME', ''],
    ['INVALID_NAME', 'x'.repeat(129)],
    ['INVALID_NAME', 7],
    ['INVALID_NAME', undefined],
    ['TEXT_INVALID', 'a\u0000'],
    ['TEXT_INVALID', '\ud83d'],
  ])('%s: %j', (code, name) => {
    expect(() => checkName(name, 'task')).toThrow(expect.objectContaining({ code }))
  })

  it('text may be empty and long, not broken', () => {
    expect(() => checkText('', 'reason')).not.toThrow()
    expect(() => checkText('x'.repeat(100_000), 'reason')).not.toThrow()
    expect(() => checkText('\udc00', 'reason')).toThrow(/^reason contains a lone surrogate/)
  })
})
