import { expect, it } from 'vitest'
import { defineTask } from '../src/core/task.ts'
import type { Plugin } from '../src/extend/plugin.ts'
import type { JobId } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import type { Worker } from '../src/worker/worker.ts'
import { type Bench, createPermits, eavesdrop, forEachBench, interpose, type Permits, turns, work } from './worker.ts'

interface Blocked {
  readonly ids: readonly JobId[]
  readonly starts: JobId[]
  readonly permits: Permits
  readonly worker: Worker
}

// A worker that holds all jobs but one, whose handler waits for a permit.
async function blocked(bench: Bench, jobs: number, plugins: readonly Plugin[] = []): Promise<Blocked> {
  const ids = (await bench.jobs.enqueueMany(work, Array.from({ length: jobs }))).map(({ id }) => id)
  const starts: JobId[] = []
  const permits = createPermits()
  const worker = await bench.started({
    handlers: [
      handle(work, async ({ job }) => {
        starts.push(job.id)
        await permits.take()
      }),
    ],
    queues: { default: { concurrency: 1, prefetch: jobs } },
    plugins,
  })
  await bench.until(() => worker.stats().held === jobs - 1 && permits.waiting === 1)
  return { ids, starts, permits, worker }
}

forEachBench('held jobs', (open) => {
  it('keep their leases while they wait', async () => {
    const bench = await open()
    const { ids, permits, starts } = await blocked(bench, 3)
    const until = async (): Promise<readonly (number | undefined)[]> =>
      Promise.all(ids.map(async (id) => (await bench.find(id))?.leaseUntil))
    for (let minute = 0; minute < 5; minute++) {
      await bench.clock.advance('1m')
      await turns()
      for (const end of await until()) expect(end! - bench.clock.now()).toBeGreaterThanOrEqual(30_000)
    }
    expect(await bench.jobs.reclaim()).toEqual({ requeued: [], dead: [], cancelled: [] })
    permits.add(3)
    await bench.until(async () => (await bench.states())['completed'] === 3)
    expect(starts).toEqual(ids)
  })

  it('are confirmed before they start: cancelled, killed, retried by a person, they do not', async () => {
    const bench = await open()
    const { plugin, heard } = eavesdrop()
    const { ids, permits, starts } = await blocked(bench, 5, [plugin])
    await bench.clock.advance(150)
    await bench.jobs.cancel(ids[1]!, { reason: 'not needed' })
    await bench.jobs.kill(ids[2]!)
    await bench.jobs.retry(ids[3]!, { delay: '1h' })
    permits.add(5)
    await bench.until(async () => (await bench.states())['completed'] === 2, 5_000)
    expect(starts).toEqual([ids[0], ids[4]])
    expect(await bench.find(ids[1]!)).toMatchObject({ state: 'cancelled', attempt: 0, error: { message: 'not needed' } })
    expect(await bench.find(ids[2]!)).toMatchObject({ state: 'dead' })
    expect(await bench.find(ids[3]!)).toMatchObject({ state: 'pending', runAt: expect.toSatisfy((at: number) => at > bench.clock.now()) })
    const told = (id: string | undefined): readonly string[] =>
      heard.filter(({ event }) => 'job' in event && event.job.id === id).map(({ type }) => type)
    expect(ids.slice(1, 4).map(told)).toEqual([['job.cancelled'], ['job.lost'], ['job.lost']])
  })

  it('[I6] are given back when their queue is paused just before they start', async () => {
    const bench = await open()
    const { ids, permits, starts } = await blocked(bench, 3)
    await bench.clock.advance(150)
    await bench.jobs.pause('default')
    permits.add(1)
    await turns() // no time passes: no pulse can have told of the pause
    expect(starts).toEqual([ids[0]])
    expect(await bench.states()).toEqual({ completed: 1, pending: 2 })
    for (const id of ids.slice(1)) expect(await bench.find(id)).toMatchObject({ attempt: 0 })
    await bench.jobs.resume('default')
    permits.add(2)
    await bench.until(async () => (await bench.states())['completed'] === 3)
    expect(starts).toEqual(ids)
  })

  it('[I6] are given back within a pulse when their queue is paused, while the running one goes on', async () => {
    const bench = await open()
    const { ids, permits, starts } = await blocked(bench, 3)
    await bench.jobs.pause('default')
    await bench.until(async () => (await bench.states())['pending'] === 2, 1_100)
    expect(await bench.find(ids[0]!)).toMatchObject({ state: 'running' })
    permits.add(1)
    await bench.until(async () => (await bench.states())['completed'] === 1)
    expect(starts).toEqual([ids[0]])
  })

  it('start without a question when they were claimed a moment ago, and after one when they have waited', async () => {
    const bench = await open()
    let looks = 0
    const store = interpose(bench.store, (verb, call, [, options]) => {
      if (verb === 'extend' && !(options as { leaseMs?: number }).leaseMs) looks++
      return call()
    })
    await bench.jobs.enqueueMany(work, Array.from({ length: 20 }))
    const permits = createPermits()
    await bench.started({ store, handlers: [handle(work, () => permits.take())], queues: { default: { concurrency: 10, prefetch: 20 } } })
    await bench.until(() => permits.waiting === 10)
    expect(looks).toBe(0)
    await bench.clock.advance(150)
    permits.add(10)
    await turns()
    expect(permits.waiting).toBe(10)
    expect(looks).toBe(1)
    permits.add(10)
    await bench.until(async () => (await bench.states())['completed'] === 20)
  })

  it('[I6] are given back after 5 s without a start when another worker is idle, and not before', async () => {
    const bench = await open()
    const { ids, permits } = await blocked(bench, 4)
    const others: JobId[] = []
    const handler = handle(work, ({ job }) => void others.push(job.id))
    const other = await bench.started({ store: await bench.another(), handlers: [handler] })
    await bench.clock.advance(4_900)
    await turns()
    expect(others).toEqual([])
    await bench.until(() => others.length === 3, 2_500)
    expect(new Set(others)).toEqual(new Set(ids.slice(1)))
    await bench.until(async () => (await bench.states())['completed'] === 3)
    for (const id of others) expect(await bench.find(id)).toMatchObject({ attempt: 1 })
    await other.stop()
    permits.add(1)
  })

  it('are given back also to a worker that is at work and has slots to spare', async () => {
    const bench = await open()
    const { permits } = await blocked(bench, 4)
    const long = defineTask('long')
    await bench.jobs.enqueue(long, {})
    let others = 0
    const other = await bench.started({
      store: await bench.another(),
      handlers: [handle(long, () => permits.take()), handle(work, () => void others++)],
      queues: { default: 2 },
    })
    await bench.until(() => other.stats().running === 1)
    await bench.until(() => others === 3, 7_500)
    expect(other.stats().running).toBe(1)
    permits.add(2)
  })

  it('stay where they are when the other worker has found nothing, but has no slot to spare either', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const { permits } = await blocked(bench, 4, [plugin])
    const long = defineTask('long')
    await bench.jobs.enqueue(long, {})
    const other = await bench.started({
      store: await bench.another(),
      handlers: [handle(long, () => permits.take()), handle(work, () => {})],
      queues: { default: 1 },
    })
    await bench.until(() => other.stats().running === 1)
    await bench.clock.advance('20s')
    await turns()
    expect(types()).not.toContain('job.released')
    expect(other.stats()).toMatchObject({ running: 1, held: 0 })
    permits.add(5)
    await bench.until(async () => (await bench.states())['completed'] === 5)
  })

  it('stay where they are, however long, when nobody else is idle', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const { permits } = await blocked(bench, 4, [plugin])
    await bench.clock.advance('1m')
    await turns()
    expect(await bench.states()).toEqual({ running: 4 })
    expect(types()).not.toContain('job.released')
    permits.add(4)
  })

  it('are no more than will soon start while another worker is idle', async () => {
    const bench = await open()
    const idle = await bench.started({ store: await bench.another(), handlers: [handle(work, () => {})], poll: '1h' })
    await bench.clock.advance('3s')
    const permits = createPermits()
    const busy = await bench.started({
      store: interpose(bench.store, (_, call) => call()),
      handlers: [handle(work, () => permits.take())],
      queues: { default: { concurrency: 2, prefetch: 50 } },
    })
    await bench.clock.advance('3s')
    await bench.jobs.enqueueMany(work, Array.from({ length: 100 }))
    await bench.until(() => busy.stats().running === 2)
    expect(busy.stats().held).toBe(0)
    await idle.stop()
    await bench.until(() => busy.stats().held === 48, 3_000) // alone, it fetches as far as it may
    permits.add(100)
    await bench.until(async () => (await bench.states())['completed'] === 100)
  })
})
