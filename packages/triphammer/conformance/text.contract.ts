import { expect, it } from 'vitest'
import { completed } from './builders.ts'
import { forEachStore } from './harness.ts'

const NAMES = [
  `'; drop table jobs; --`,
  `"quoted" 'twice' \`over\``,
  'per%cent_under\\score*?[a-z]',
  'Ünïcödé 日本語 🚂 עברית',
  ' space around ',
  'line\nbreak\ttab',
  '$1 $x ? :name @name {0}',
  'constructor',
  '__proto__',
  'null',
  '🚂'.repeat(64),
]

const PAYLOADS: readonly (readonly [string, string])[] = [
  ['multi-byte text', JSON.stringify({ text: 'Grüße, 世界, 🚂, \u2028\u2029', Ключ: 'значение' })],
  ['quotes and backslashes', JSON.stringify({ text: `"'\`\\\n\r\t\u0001\u001f` })],
  ['__proto__ as a key', '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"a":[{"__proto__":null}]}'],
  ['numbers', '[0,-1,1.5,-2.25e-7,9007199254740991,1e21,0.1]'],
  ['a lone null', 'null'],
  ['empty things', '{"a":[],"b":{},"c":"","":0}'],
  ['deep nesting', `${'['.repeat(400)}1${']'.repeat(400)}`],
  ['one MiB', JSON.stringify('ä'.repeat((1_048_576 - 2) / 2))],
]

forEachStore('text', (open) => {
  it.each(PAYLOADS)('a payload goes round unchanged: %s', async (_, payload) => {
    const { add, claim, find } = await open()
    const id = await add({ payload })
    const [run] = await claim()
    const parsed: unknown = JSON.parse(payload)
    const stored: unknown[] = [run!.payload, (await find(id))!.payload].map((text) => JSON.parse(text))
    // By text: equality of objects would overlook a `__proto__` that has become a prototype.
    for (const value of stored) expect(canonical(value) === canonical(parsed)).toBe(true)
  })

  it.each(NAMES)('a name is what it says: %j', async (name) => {
    const { store, add, job, claim, find } = await open()
    const id = await add({ queue: name, task: name })
    await store.enqueue([job()])
    expect(await store.admin.find({ queues: [name], tasks: [name] }, { limit: 5, order: 'oldest' })).toMatchObject({ jobs: [{ id }] })
    expect(await store.admin.count({ queues: [name] }, 'task')).toEqual([{ key: name, count: 1 }])
    await store.admin.setQueue(name, { paused: { by: name, reason: name } })
    expect((await store.admin.queues()).find((queue) => queue.name === name)?.paused).toMatchObject({ by: name, reason: name })
    expect(await claim({ queue: name })).toEqual([])
    await store.admin.setQueue(name, { paused: null })
    const [run] = await claim({ queue: name, tasks: [name] })
    expect(run).toMatchObject({ id, queue: name, task: name })
    await store.finish([completed(run!)])
    expect(await find(id)).toMatchObject({ queue: name, task: name, state: 'completed' })
  })

  it('names that differ in case, accents or spaces at the end are different', async () => {
    const { add, claim } = await open()
    const names = ['mail', 'Mail', 'MAIL', 'mäil', 'mail ', 'm\u0061\u0308il']
    for (const queue of names) await add({ queue })
    for (const queue of names) expect((await claim({ queue })).map((run) => run.queue)).toEqual([queue])
  })

  it('an error goes round unchanged', async () => {
    const { store, add, claim, find } = await open()
    const error = { name: 'Błąd', message: `it's "bad" \\ 日本 🚂\nline two`, code: 'E_ÄÖ', stack: 'x'.repeat(16_384) }
    const id = await add()
    const [run] = await claim()
    await store.finish([{ lease: run!.lease, kind: 'dead', error }])
    expect((await find(id))?.error).toEqual(error)
  })

  it('an error of only a name and a message has no more', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const [run] = await claim()
    await store.finish([{ lease: run!.lease, kind: 'dead', error: { name: 'Error', message: '' } }])
    expect((await find(id))?.error).toEqual({ name: 'Error', message: '' })
  })

  it('the reason of a cancel goes round unchanged', async () => {
    const { store, add, find } = await open()
    const id = await add()
    await store.admin.apply({ ids: [id] }, { kind: 'cancel', reason: `Grund: "ÄÖÜ" 🚂 '; --` }, { limit: 1 })
    expect((await find(id))?.error?.message).toBe(`Grund: "ÄÖÜ" 🚂 '; --`)
  })
})

// JSON text that is the same for equal values, whatever the order of their keys.
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}
