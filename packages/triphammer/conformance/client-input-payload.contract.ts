import { expect, it } from 'vitest'
import { z } from 'zod'
import type { ErrorCode } from '../src/core/errors.ts'
import { type AnyTask, defineTask } from '../src/core/task.ts'
import { forEachClient, refused, sendEmail } from './client.ts'

const cycle: Record<string, unknown> = { list: [] }
;(cycle['list'] as unknown[]).push({ back: cycle })
const throwing = (): never => {
  throw new Error('not today')
}

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1
  for (let n = 0; n < levels; n++) value = wrap(value)
  return value
}
const lists = (levels: number): unknown => nested(levels, (inner) => [inner])
const objects = (levels: number): unknown => nested(levels, (inner) => ({ a: inner }))

type Row = readonly [what: string, payload: unknown, code: ErrorCode, words: RegExp]

const NOT_JSON: readonly Row[] = [
  ['a function', () => 1, 'PAYLOAD_NOT_JSON', /send_email: payload is a function; only JSON can be stored/],
  ['a function within', { a: [{ f: () => 1 }] }, 'PAYLOAD_NOT_JSON', /payload\.a\[0\]\.f is a function/],
  ['a class', class Payload {}, 'PAYLOAD_NOT_JSON', /payload is a function/],
  ['a symbol', { s: Symbol('x') }, 'PAYLOAD_NOT_JSON', /payload\.s is a symbol/],
  ['a bigint', { n: 10n }, 'PAYLOAD_NOT_JSON', /payload\.n is a bigint/],
  ['NaN', { n: Number.NaN }, 'PAYLOAD_NOT_JSON', /payload\.n is NaN/],
  ['Infinity', [Number.POSITIVE_INFINITY], 'PAYLOAD_NOT_JSON', /payload\[0\] is Infinity/],
  ['-Infinity', [1, Number.NEGATIVE_INFINITY], 'PAYLOAD_NOT_JSON', /payload\[1\] is -Infinity/],
  ['undefined in a list', [1, undefined], 'PAYLOAD_NOT_JSON', /payload\[1\] is undefined/],
  ['a list with a hole', { a: Object.assign([1], { 2: 3 }) }, 'PAYLOAD_NOT_JSON', /payload\.a\[1\] is undefined/],
  ['a list of a billion holes', new Array(1_000_000_000), 'PAYLOAD_NOT_JSON', /payload\[0\] is undefined/],
  ['a cycle', cycle, 'PAYLOAD_NOT_JSON', /payload\.list\[0\]\.back is a cycle/],
  ['a Map', new Map([[1, 2]]), 'PAYLOAD_NOT_JSON', /payload is a Map/],
  ['a Set', { s: new Set() }, 'PAYLOAD_NOT_JSON', /payload\.s is a Set/],
  ['a WeakMap', [new WeakMap()], 'PAYLOAD_NOT_JSON', /payload\[0\] is a WeakMap/],
  ['a promise that was not awaited', { user: Promise.resolve(1) }, 'PAYLOAD_NOT_JSON', /payload\.user is a Promise/],
  ['an Error', new Error('x'), 'PAYLOAD_NOT_JSON', /payload is a Error/],
  ['a RegExp', /x/, 'PAYLOAD_NOT_JSON', /payload is a RegExp/],
  ['bytes', new Uint8Array(3), 'PAYLOAD_NOT_JSON', /payload is a Uint8Array/],
  ['a boxed string', Object('x'), 'PAYLOAD_NOT_JSON', /payload is a String/],
  ['an invalid Date', { at: new Date(Number.NaN) }, 'PAYLOAD_NOT_JSON', /payload\.at is an invalid Date/],
  ['501 lists', lists(501), 'PAYLOAD_NOT_JSON', /payload(\[0\])+….* is nested more than 500 levels deep/],
  ['a million lists', lists(1_000_000), 'PAYLOAD_NOT_JSON', /nested more than 500 levels deep/],
  ['a million objects', objects(1_000_000), 'PAYLOAD_NOT_JSON', /nested more than 500 levels deep/],
  [
    'a getter that throws',
    Object.defineProperty({}, 'a', { enumerable: true, get: throwing }),
    'PAYLOAD_NOT_JSON',
    /payload\.a could not be read: .*not today/,
  ],
  ['a proxy that throws', new Proxy({}, { ownKeys: throwing }), 'PAYLOAD_NOT_JSON', /could not be read: .*not today/],
  ['toJSON that throws', { a: { toJSON: throwing } }, 'PAYLOAD_NOT_JSON', /payload\.a could not be read: .*not today/],
  ['toJSON that gives a function', { a: { toJSON: () => () => 1 } }, 'PAYLOAD_NOT_JSON', /payload\.a is a function/],
  ['toJSON that gives undefined', { a: { toJSON: () => undefined } }, 'PAYLOAD_NOT_JSON', /payload\.a is undefined/],
  ['toJSON that gives a bigint', { toJSON: () => 1n }, 'PAYLOAD_NOT_JSON', /payload is a bigint/],
  ['toJSON that gives more and more', nestingJson(), 'PAYLOAD_NOT_JSON', /nested more than 500 levels deep/],
  ['U+0000', 'a\u0000b', 'TEXT_INVALID', /payload contains U\+0000, which not every store can hold/],
  ['U+0000 within', { a: ['x', '\u0000'] }, 'TEXT_INVALID', /payload\.a\[1\] contains U\+0000/],
  ['U+0000 in a key', { a: { 'k\u0000': 1 } }, 'TEXT_INVALID', /payload\.a\.k\\u0000 contains U\+0000/],
  ['U+0000 from toJSON', { toJSON: () => '\u0000' }, 'TEXT_INVALID', /contains U\+0000/],
  ['a high surrogate alone', { a: 'x\ud83d' }, 'TEXT_INVALID', /payload\.a contains a lone surrogate, half of a character/],
  ['a low surrogate alone', ['\ude82x'], 'TEXT_INVALID', /payload\[0\] contains a lone surrogate/],
  ['surrogates in the wrong order', '\ude82\ud83d', 'TEXT_INVALID', /lone surrogate/],
  ['a lone surrogate in a key', { '\udfff': 1 }, 'TEXT_INVALID', /contains a lone surrogate/],
  [
    'a byte over 1 MiB',
    'x'.repeat(1_048_575),
    'PAYLOAD_TOO_LARGE',
    /send_email: payload has 1048577 bytes of JSON; the limit is 1048576\..*pass a reference/,
  ],
  ['multi-byte text over 1 MiB', '🚂'.repeat(262_144), 'PAYLOAD_TOO_LARGE', /has 1048578 bytes/],
  ['escapes over 1 MiB', '\u0001'.repeat(200_000), 'PAYLOAD_TOO_LARGE', /has 1200002 bytes/],
  ['twenty megabytes', 'x'.repeat(20_000_000), 'PAYLOAD_TOO_LARGE', /has 20000002 bytes/],
]

// Each level is made by the one above it when it is asked for: there is no end to it, and no object is there twice.
function nestingJson(): object {
  return { toJSON: () => ({ deeper: nestingJson() }) }
}

const sync = defineTask('sync', { input: z.object({ to: z.string(), list: z.array(z.object({ n: z.number() })).optional() }) })
const late = defineTask('late', { input: z.object({ to: z.string() }).refine(async ({ to }) => to !== 'nobody', { message: 'is nobody' }) })
const own = (validate: () => unknown): AnyTask =>
  defineTask('own', { input: { '~standard': { version: 1, vendor: 'own', validate } } as never })
const issues = { issues: Array.from({ length: 7 }, (_, n) => ({ message: `wrong ${n}`, path: ['list', { key: n }] })) }

const MISFITS: readonly (readonly [what: string, task: AnyTask, payload: unknown, words: RegExp])[] = [
  ['a wrong type', sync, { to: 5 }, /the payload does not fit task sync: to: .*string/],
  ['something missing', sync, {}, /task sync: to: /],
  ['no payload', sync, undefined, /task sync: .*object/],
  ['something wrong deep within', sync, { to: 'x', list: [{ n: 1 }, { n: 'x' }] }, /list\.1\.n: .*number/],
  ['a wrong type, asynchronously', late, { to: 5 }, /task late: to: .*string/],
  ['what an asynchronous check finds', late, { to: 'nobody' }, /task late: is nobody/],
  ['many issues', own(() => issues), 1, /task own: list\.0: wrong 0; .*list\.4: wrong 4; and 2 more$/],
  ['issues, promised by something like a promise', own(() => thenable(issues)), 1, /task own: list\.0: wrong 0/],
  ['a schema that throws', own(throwing), 1, /the schema of task own threw.*not today/],
  ['a schema that rejects', own(async () => throwing()), 1, /the schema of task own threw.*not today/],
]

function thenable(value: unknown): object {
  const promise = Promise.resolve(value)
  // biome-ignore lint/suspicious/noThenProperty: a promise of another library
  return { then: promise.then.bind(promise) }
}

forEachClient('client: bad payloads', (open) => {
  it.each(NOT_JSON)('%s is refused, and nothing is written', async (_, payload, code, words) => {
    const { jobs, isEmpty } = await open()
    await refused(() => jobs.enqueue(sendEmail, payload), code, words)
    await refused(() => jobs.enqueueMany(sendEmail, ['good', payload]), code, words)
    expect(await isEmpty()).toBe(true)
  })

  it.each(MISFITS)('%s is refused by the schema, and nothing is written', async (_, task, payload, words) => {
    const { jobs, isEmpty } = await open()
    await refused(() => jobs.enqueue(task, payload), 'PAYLOAD_INVALID', words)
    await refused(() => jobs.enqueueMany([sendEmail.with('good'), task.with(payload)]), 'PAYLOAD_INVALID', words)
    expect(await isEmpty()).toBe(true)
  })

  it('a cycle is refused before a schema could run round in it', async () => {
    const { jobs, isEmpty } = await open()
    const asked: unknown[] = []
    const task = own(() => asked.push(1) > 0 && { value: 1 })
    await refused(() => jobs.enqueue(task, cycle), 'PAYLOAD_NOT_JSON', /is a cycle/)
    expect(asked).toEqual([])
    expect(await isEmpty()).toBe(true)
  })

  it('the limit is the client’s own: exactly that many bytes are in, one more is not', async () => {
    const { jobs, clientWith, stored } = await open()
    const full = 'ä'.repeat((1_048_576 - 2) / 2)
    expect(await stored((await jobs.enqueue(sendEmail, full)).id)).toBe(`"${full}"`)
    const small = clientWith({ payloadLimit: 10 })
    expect((await small.enqueue(sendEmail, '12345678')).status).toBe('inserted')
    await refused(() => small.enqueue(sendEmail, '123456789'), 'PAYLOAD_TOO_LARGE', /11 bytes of JSON; the limit is 10\./)
    await refused(() => small.enqueue(sendEmail, 'ääää🚂'), 'PAYLOAD_TOO_LARGE', /14 bytes/)
    const large = clientWith({ payloadLimit: 3_000_000 })
    const { id } = await large.enqueue(sendEmail, 'x'.repeat(2_000_000))
    expect((await stored(id))?.length).toBe(2_000_002)
    expect(await jobs.count()).toBe(3)
  })
})

forEachClient('client: payloads that are JSON after all', (open) => {
  const date = new Date(Date.UTC(2026, 4, 1))
  class Money {
    readonly amount = 5
    readonly #secret = 1
    show(): number {
      return this.#secret
    }
  }
  const flaky = { calls: 0, toJSON: () => (flaky.calls++ === 0 ? { first: true } : () => 'later') }
  class Itself {
    readonly n = 1
    toJSON(): this {
      return this
    }
  }
  const shared = { n: 1 }
  it.each<readonly [string, unknown, string]>([
    ['500 lists', lists(500), `${'['.repeat(500)}1${']'.repeat(500)}`],
    ['500 objects', objects(500), `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`],
    ['a Date becomes ISO text', { at: date, list: [date] }, '{"at":"2026-05-01T00:00:00.000Z","list":["2026-05-01T00:00:00.000Z"]}'],
    ['a Buffer, as its toJSON has it', Buffer.from('a'), '{"type":"Buffer","data":[97]}'],
    ['properties that are undefined are left out', { a: undefined, b: 1 }, '{"b":1}'],
    ['-0 becomes 0', [-0], '[0]'],
    ['an instance of a class, by its fields', new Money(), '{"amount":5}'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['toJSON is asked once: what was checked is what is stored', flaky, '{"first":true}'],
    ['toJSON that gives the object itself', new Itself(), '{"n":1}'],
    ['toJSON gets its key', { name: { toJSON: (key: string) => key } }, '{"name":"name"}'],
    ['one object in two places', [shared, { again: shared }], '[{"n":1},{"again":{"n":1}}]'],
    ['toJSON that is no function', { toJSON: 5 }, '{"toJSON":5}'],
  ])('%s', async (_, payload, text) => {
    const { jobs, stored } = await open()
    const { id } = await jobs.enqueue(sendEmail, payload)
    expect(await stored(id)).toBe(text)
    expect((await jobs.claim('default'))[0]?.payload).toEqual(JSON.parse(text))
  })

  it('keys that every object has are keys like others, and pollute nothing', async () => {
    const { jobs, stored } = await open()
    const text =
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"list":[{"__proto__":null}],"hasOwnProperty":1}'
    const { id } = await jobs.enqueue(sendEmail, JSON.parse(text))
    expect(await stored(id)).toBe(text)
    const [run] = await jobs.claim('default')
    for (const payload of [run!.payload, (await jobs.get(id))!.payload]) {
      expect(JSON.stringify(payload)).toBe(text)
      expect(Object.getPrototypeOf(payload)).toBe(Object.prototype)
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
