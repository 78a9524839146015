import fc from 'fast-check'
import { expect, it } from 'vitest'
import { completed } from '../src/core/outcome.ts'
import { defineTask } from '../src/core/task.ts'
import { handle } from '../src/worker/handler.ts'
import { forEachClient, refused, sendEmail } from './client.ts'
import { canonical, hostileJson, hostileNames, hostilePayloads, SEED } from './hostile.ts'
import { eavesdrop, forEachBench } from './worker.ts'

const COUNT = 1_000
const written = (payload: unknown): string => canonical(JSON.parse(JSON.stringify(payload)))

const UNPOLLUTED = [Object, Array, Function, String].map((one) => Reflect.ownKeys(one.prototype as object))
function expectNothingPolluted(): void {
  expect([Object, Array, Function, String].map((one) => Reflect.ownKeys(one.prototype as object))).toEqual(UNPOLLUTED)
}

forEachClient(`hostile names and payloads by hand, seed ${SEED}`, (open) => {
  const names = hostileNames(COUNT, SEED)
  const payloads = hostilePayloads(COUNT, SEED)

  it('[I11] 1,000 of each: what goes in comes out, and a filter finds exactly its job, 200 times', { timeout: 120_000 }, async () => {
    const { jobs } = await open()
    const given = names.map((task, n) => ({ task, queue: names[COUNT - 1 - n]!, payload: payloads[n] }))
    const results = await jobs.enqueueMany(given.map(({ task, queue, payload }) => defineTask(task).with(payload, { queue })))
    for (const [n, { task, queue, payload }] of given.entries()) {
      const { id } = results[n]!
      if (n % 5 === 0) {
        expect((await jobs.list({ task })).jobs.map((job) => job.id)).toEqual([id])
        expect((await jobs.list({ queue: [queue] })).jobs.map((job) => job.id)).toEqual([id])
      }
      const [run] = await jobs.claim(queue, { max: 9, tasks: [task] })
      expect(run).toMatchObject({ id, task, queue })
      expect(canonical(run!.payload) === written(payload)).toBe(true)
      expect(await jobs.finish(run!, completed(payload))).toBe('applied')
      const job = (await jobs.get(id))!
      expect({ task: job.task, queue: job.queue, state: job.state }).toEqual({ task, queue, state: 'completed' })
      expect([job.payload, job.result].every((value) => canonical(value) === written(payload))).toBe(true)
    }
    expect(await jobs.countBy('state')).toEqual({ completed: COUNT })
    for (const key of ['task', 'queue'] as const) {
      const counted = await jobs.countBy(key)
      expect(new Set(Object.getOwnPropertyNames(counted))).toEqual(new Set(names))
      expect(names.every((name) => Object.getOwnPropertyDescriptor(counted, name)?.value === 1)).toBe(true)
    }
    expectNothingPolluted()
  })

  it('[I11] 1,000 as a reason and an error, 200 as who paused a queue: kept as they are', { timeout: 120_000 }, async () => {
    const { jobs } = await open()
    const told: unknown[] = []
    jobs.on('queue.resumed', ({ queue, by }) => void told.push([queue, by]))
    const results = await jobs.enqueueMany(names.map((queue, n) => sendEmail.with(n, { queue, maxAttempts: 1 })))
    for (const [n, name] of names.entries()) {
      const isPaused = n % 5 === 0
      if (isPaused) expect((await jobs.pause(name, { by: name, reason: name })).paused).toMatchObject({ by: name, reason: name })
      if (n % 3 === 0) {
        const [run, more] = await jobs.claim(name, { max: 9 })
        expect([run?.queue, more]).toEqual([isPaused ? undefined : name, undefined])
        if (isPaused) await jobs.kill({ queue: name, task: sendEmail }, { reason: name })
        else await jobs.fail(run!, Object.assign(new Error(name), { name, code: name }))
      }
      if (n % 3 === 1) await jobs.kill(results[n]!.id, { reason: name })
      if (n % 3 === 2) await jobs.cancel(isPaused ? { queue: name } : results[n]!.id, { reason: name })
      if (isPaused) await jobs.resume(name, { by: name })
      const { error } = (await jobs.get(results[n]!.id))!
      expect(error?.message).toBe(name)
      if (n % 3 === 0 && !isPaused) expect(error).toMatchObject({ name, code: name })
    }
    const paused = names.filter((_, n) => n % 5 === 0)
    expect(told).toEqual(paused.map((name) => [name, name]))
    expect(new Set((await jobs.queues()).map(({ name }) => name))).toEqual(new Set(paused))
    expectNothingPolluted()
  })

  it('[I11] names that are equal once they are normalised, trimmed, folded or read as numbers are not equal here', async () => {
    const { jobs } = await open()
    const twins = [
      ...['caf\u00e9', 'cafe\u0301', '\u212bngstr\u00f6m', '\u00c5ngstr\u00f6m', 'A\u030angstro\u0308m', '\ufb01le', 'file', 'FILE'],
      ...['stra\u00dfe', 'STRASSE', 'i', '\u0130', '\u0131', 'I', '\ud55c', '\u1112\u1161\u11ab', 'm\u0430il', 'mail', 'Mail'],
      ...['mail ', ' mail', 'mail\u200b', 'mail\u00a0', 'mail\n', '1', '01', '1.0', '\uff11', '0x1', '+1', 'null', 'NULL', 'Null'],
    ]
    for (const name of twins) await jobs.enqueue(defineTask(name), name, { queue: name })
    for (const name of twins) {
      await jobs.pause(name)
      expect((await jobs.queues()).filter(({ paused }) => paused).map((queue) => queue.name)).toEqual([name])
      await jobs.resume(name)
      expect((await jobs.list({ task: name })).jobs.map(({ task, queue, payload }) => [task, queue, payload])).toEqual([[name, name, name]])
      expect((await jobs.claim(name, { max: 99 })).map(({ queue }) => queue)).toEqual([name])
    }
    expect(await jobs.countBy('state')).toEqual({ running: twins.length })
  })

  it.each(['%', '_', '*', '[a-z]', '%%', '____', "' or '1'='1", '', '\\', 'a%', '?'])(
    '[I11] the filter %j is no pattern',
    async (pattern) => {
      const { jobs } = await open()
      await jobs.enqueueMany(['a', 'ab', 'abc', 'x'].map((name) => defineTask(name).with(name, { queue: name })))
      if (pattern === '') return refused(() => jobs.list({ task: '' }), 'INVALID_NAME', /empty/)
      expect(await jobs.count({ task: pattern })).toBe(0)
      expect(await jobs.count({ queue: pattern })).toBe(0)
      expect(await jobs.kill({ queue: pattern })).toMatchObject({ changed: 0 })
      expect(await jobs.delete({ task: pattern })).toMatchObject({ changed: 0 })
      expect(await jobs.count({ state: 'pending' })).toBe(4)
    },
  )
})

const sparse = (): unknown[] => {
  const list: unknown[] = [1, 2, 3]
  delete list[1]
  return list
}
const cycle = (): unknown => {
  const list: unknown[] = []
  list.push([list])
  return list
}
const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let n = 0; n < levels; n++) value = n % 2 ? [value] : { a: value }
  return value
}
const shy = new Proxy({}, { get: () => expectNothingPolluted(), ownKeys: () => JSON.parse('{') as never })
const BAD: readonly (readonly [what: string, make: () => unknown])[] = [
  ['a function', () => () => {}],
  ['a symbol', () => Symbol('s')],
  ['a BigInt', () => 10n],
  ['no number', () => Number.NaN],
  ['infinity', () => Number.NEGATIVE_INFINITY],
  ['a list with a hole', sparse],
  ['a list with nothing in it', () => [undefined]],
  ['a cycle', cycle],
  ['a Map', () => new Map([['__proto__', 1]])],
  ['a Set', () => new Set([1])],
  ['a promise', () => Promise.resolve(1)],
  ['a regular expression', () => /x/],
  ['typed numbers', () => new Uint8Array(2)],
  ['an invalid Date', () => new Date(Number.NaN)],
  ['a boxed symbol', () => Object(Symbol('s')) as object],
  ['U+0000', () => 'a\u0000b'],
  ['half of a character', () => '\udc00\ud800'],
  ['U+0000 in a key', () => ({ '\u0000': 1 })],
  ['501 levels', () => deep(501)],
  ['100,000 levels', () => deep(100_000)],
  ['toJSON that throws', () => ({ toJSON: () => JSON.parse('{') as unknown })],
  ['toJSON that gives a function', () => ({ toJSON: () => () => {} })],
  ['a getter that throws', () => Object.defineProperty({}, 'a', { enumerable: true, get: () => JSON.parse('{') as unknown })],
  ['a Proxy that throws', () => shy],
  [
    'a Proxy that has been revoked',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    },
  ],
]

forEachClient(`what is no JSON, anywhere in what is, seed ${SEED}`, (open) => {
  it.each(BAD)('[I11] %s: refused wherever it is, by an error of ours, and nothing is written', async (_, make) => {
    const { jobs, isEmpty } = await open()
    // Beside, within and below anything else.
    const around = [
      (value: unknown) => value,
      (value: unknown, other: unknown) => [other, value],
      (value: unknown, other: unknown) => ({ __proto__: null, other, value }),
      (value: unknown, other: unknown) => ({ [JSON.stringify(other)]: [[{ value }]] }),
      (value: unknown, other: unknown) => ({ toJSON: () => [other, { value }] }),
    ]
    const isRefused = fc.asyncProperty(fc.constantFrom(...around), hostileJson, async (wrap, other) => {
      const payload = wrap(make(), JSON.parse(other))
      await refused(() => jobs.enqueue(sendEmail, payload), expect.stringMatching(/^(PAYLOAD_NOT_JSON|TEXT_INVALID)$/) as never, /payload/)
      await refused(() => jobs.enqueueMany(sendEmail, [1, payload]), expect.any(String) as never, /payload/)
    })
    await fc.assert(isRefused, { numRuns: 25, seed: SEED })
    expect(await isEmpty()).toBe(true)
    expectNothingPolluted()
  })

  it.each<readonly [what: string, name: unknown]>([
    ['nothing', ''],
    ['129 characters', 'x'.repeat(129)],
    ['65 characters of two units each', '🚂'.repeat(65)],
    ['a number', 1],
    ['null', null],
    ['a list', ['a']],
    ['an object that says it is text', { toString: () => 'a' }],
    ['boxed text', Object('a')],
    ['U+0000', 'a\u0000'],
    ['half of a character', '\ud800'],
  ])('[I11] a name that is %s is refused everywhere, and nothing is written', async (_, bad) => {
    const { jobs, isEmpty } = await open()
    const name = bad as string
    const calls: (() => unknown)[] = [
      () => defineTask(name),
      () => jobs.enqueue(sendEmail, 1, { queue: name }),
      () => jobs.claim(name),
      () => jobs.claim('default', { tasks: [name] }),
      () => jobs.pause(name),
      () => jobs.pause('q', { by: name }),
      () => jobs.resume(name),
      () => jobs.resume('q', { by: name }),
      ...(Array.isArray(bad) ? [] : [() => jobs.list({ queue: name }), () => jobs.kill({ task: name })]),
    ]
    for (const call of calls) await refused(call, expect.stringMatching(/^(INVALID_NAME|TEXT_INVALID)$/) as never, /./)
    expect(await isEmpty()).toBe(true)
  })
})

forEachBench(`hostile names and payloads in a worker, seed ${SEED}`, (open) => {
  it('[I11] 300 tasks: payload, progress, result, error, log and events are what they are', { timeout: 60_000 }, async () => {
    const bench = await open()
    const names = hostileNames(300, SEED + 1)
    const payloads = hostilePayloads(names.length, SEED + 1)
    const { plugin, heard } = eavesdrop()
    const tasks = names.map((name) => defineTask(name, { queue: names[0]! }))
    const results = await bench.jobs.enqueueMany(tasks.map((task, n) => task.with(payloads[n], { maxAttempts: 1 })))
    const handlers = tasks.map((task, n) =>
      handle(task, ({ payload, progress, log, job }) => {
        progress(payload)
        log.warn({ [job.task]: job.task }, job.task)
        if (n % 2) throw Object.assign(new Error(job.task), { name: job.task, code: job.task })
        return payload
      }),
    )
    await bench.settled(bench.worker({ handlers, plugins: [plugin] }).runOnce())
    const logged = new Map(
      bench.logged.filter(({ level, fields }) => level === 'warn' && !('delayMs' in fields)).map((line) => [line.fields['job'], line]),
    )
    for (const [n, task] of names.entries()) {
      const job = (await bench.jobs.get(results[n]!.id))!
      expect(job).toMatchObject({ task, queue: names[0], state: n % 2 ? 'dead' : 'completed', attempt: 1 })
      if (n % 2) expect(job.error).toMatchObject({ name: task, message: task, code: task })
      const kept = bench.store.facets.results ? [job.payload, job.progress, ...(n % 2 ? [] : [job.result])] : [job.payload]
      expect(kept.every((value) => canonical(value) === written(payloads[n]))).toBe(true)
      expect(logged.get(job.id)).toMatchObject({ message: task, fields: { job: job.id, attempt: 1 } })
    }
    const started = heard.filter(({ type }) => type === 'job.started').map(({ event }) => (event as { job: { task: string } }).job.task)
    expect(started).toEqual(names)
    expectNothingPolluted()
  })
})
