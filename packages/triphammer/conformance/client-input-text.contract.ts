import fc from 'fast-check'
import { expect, it } from 'vitest'
import { completed } from '../src/core/outcome.ts'
import { defineTask } from '../src/core/task.ts'
import { forEachClient, refused, sendEmail } from './client.ts'
import { canonical, hostileJson, hostileName, hostileText, SEED } from './hostile.ts'

const NUL = '\u0000'
const text = fc.string({ unit: 'binary', maxLength: 40 })

forEachClient('client: any text, any JSON', (open) => {
  it('[I11] a JSON value comes back as it went in: claimed, looked at, and as a result', async () => {
    const { jobs } = await open()
    const roundTrip = fc.asyncProperty(fc.array(hostileJson, { minLength: 1, maxLength: 12 }), async (texts) => {
      const values = texts.map((given): unknown => JSON.parse(given))
      const results = await jobs.enqueueMany(sendEmail, values)
      const runs = await jobs.claim('default', { max: values.length })
      expect(runs.map(({ id }) => id)).toEqual(results.map(({ id }) => id))
      for (const [n, run] of runs.entries()) {
        await jobs.finish(run, completed(values[n]))
        const job = await jobs.get(run.id)
        expect([run.payload, job!.payload, job!.result].map(canonical)).toEqual([values[n], values[n], values[n]].map(canonical))
      }
    })
    await fc.assert(roundTrip, { numRuns: 40, seed: SEED })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('[I11] 1,000 hostile names and payloads come back unchanged and change nothing else', async () => {
    const { jobs } = await open()
    const bystander = await jobs.enqueue(defineTask('bystander'), { calm: true }, { queue: 'bystander', delay: '1d' })
    const before = await jobs.get(bystander.id)
    const given = fc.sample(fc.record({ queue: hostileName, task: hostileName, payload: hostileText }), { numRuns: 1_000, seed: SEED })
    const results = await jobs.enqueueMany(
      given.map(({ queue, task, payload }) => defineTask(task).with({ [payload]: payload }, { queue })),
    )
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['inserted']))

    const found = new Map<string, { queue: string; task: string; payload: string }>()
    for (let after: string | undefined; ; ) {
      const page = await jobs.list({}, { limit: 500, ...(after === undefined ? {} : { after }) })
      for (const { id, queue, task, payload } of page.jobs) found.set(id, { queue, task, payload: canonical(payload) })
      if (page.next === undefined) break
      after = page.next
    }
    for (const [n, { id }] of results.entries()) {
      const { queue, task, payload } = given[n]!
      expect(found.get(id)).toEqual({ queue, task, payload: canonical(Object.fromEntries([[payload, payload]])) })
    }
    expect(found.size).toBe(1_001)
    const counted = await jobs.countBy('queue')
    for (const queue of new Set(given.map((one) => one.queue))) {
      expect([queue, Object.getOwnPropertyDescriptor(counted, queue)?.value]).toEqual([
        queue,
        given.filter((one) => one.queue === queue).length,
      ])
    }
    expect(await jobs.get(bystander.id)).toEqual(before)
  })

  it('[I11] 50 hostile queues are paused, counted, claimed and commanded by their exact names', async () => {
    const { jobs } = await open()
    const names = [...new Set(fc.sample(hostileName, { numRuns: 50, seed: SEED }))]
    for (const queue of names) {
      const { id } = await jobs.enqueue(defineTask(queue), queue, { queue })
      expect((await jobs.pause(queue, { by: queue, reason: queue })).paused).toMatchObject({ by: queue, reason: queue })
      expect(await jobs.claim(queue)).toEqual([])
      expect((await jobs.resume(queue)).paused).toBeUndefined()
      expect(await jobs.count({ queue, task: queue })).toBe(1)
      const [run] = await jobs.claim(queue, { max: 9, tasks: [queue] })
      expect(run).toMatchObject({ id, queue, task: queue, payload: queue })
      expect(await jobs.kill({ queue, state: 'running' }, { reason: queue })).toMatchObject({ changed: 1 })
      expect((await jobs.get(id))?.error?.message).toBe(queue)
    }
    expect(await jobs.countBy('state')).toEqual({ dead: names.length })
  })

  it('[I11] U+0000 and half of a character are refused anywhere, before anything is written', async () => {
    const { jobs, isEmpty } = await open()
    const bad = fc.tuple(text, fc.constantFrom(NUL, '\ud800', '\udfff', '\udc00\ud800'), text).map((parts) => parts.join(''))
    const isRefused = fc.asyncProperty(
      bad.filter((value) => value.includes(NUL) || !value.isWellFormed()),
      async (value) => {
        await refused(() => jobs.enqueue(sendEmail, value), 'TEXT_INVALID', /payload contains/)
        await refused(() => jobs.enqueue(sendEmail, { [value]: 1 }), 'TEXT_INVALID', /payload\..* contains/s)
        await refused(() => jobs.enqueue(sendEmail, 1, { queue: value }), 'TEXT_INVALID', /queue contains/)
        await refused(() => defineTask(value), 'TEXT_INVALID', /name of a task contains/)
        await refused(() => jobs.claim(value), 'TEXT_INVALID', /queue contains/)
        await refused(() => jobs.claim('default', { tasks: [value] }), 'TEXT_INVALID', /tasks contains/)
        await refused(() => jobs.list({ queue: value }), 'TEXT_INVALID', /filter: queue contains/)
        await refused(() => jobs.list({ task: value }), 'TEXT_INVALID', /filter: task contains/)
        await refused(() => jobs.pause(value), 'TEXT_INVALID', /queue contains/)
        await refused(() => jobs.pause('q', { by: value }), 'TEXT_INVALID', /by contains/)
        await refused(() => jobs.pause('q', { reason: value }), 'TEXT_INVALID', /reason contains/)
        await refused(() => jobs.cancel({ all: true }, { reason: value }), 'TEXT_INVALID', /reason contains/)
        await refused(() => jobs.kill({ all: true }, { reason: value }), 'TEXT_INVALID', /reason contains/)
      },
    )
    await fc.assert(isRefused, { numRuns: 100, seed: SEED })
    expect(await isEmpty()).toBe(true)
  })
})
