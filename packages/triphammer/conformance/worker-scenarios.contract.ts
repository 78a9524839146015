import { expect, it } from 'vitest'
import { sleep } from '../src/core/clock.ts'
import type { JobRecord } from '../src/store/admin.ts'
import type { JobId } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, forEachBench, work } from './worker.ts'

async function enqueue({ jobs }: Bench, count: number): Promise<JobId[]> {
  const results = await jobs.enqueueMany(
    work,
    Array.from({ length: count }, (_, i) => ({ i })),
  )
  return results.map(({ id }) => id)
}

// Counts the runs of each job; a run takes `delayMs`.
function countingHandler({ clock }: Bench, delayMs: number) {
  const runs = new Map<JobId, number>()
  const handler = handle(work, async ({ job }) => {
    runs.set(job.id, (runs.get(job.id) ?? 0) + 1)
    await sleep(clock, delayMs)
  })
  return { runs, handler }
}

async function all({ find }: Bench, ids: readonly JobId[]): Promise<readonly JobRecord[]> {
  return Promise.all(ids.map(async (id) => (await find(id))!))
}

forEachBench(
  'workers on the machine’s clock',
  (open) => {
    it('[W1] three workers run 150 jobs, each once', async () => {
      const bench = await open()
      const ids = await enqueue(bench, 150)
      const { runs, handler } = countingHandler(bench, 2)
      const stores = [bench.store, await bench.another(), await bench.another()]
      const workers = stores.map((store) =>
        bench.worker({ store, handlers: [handler], poll: 20, queues: { default: { prefetch: 8, concurrency: 3 } } }),
      )
      const ended = workers.map((worker) => worker.run({ signals: false }))
      await bench.until(async () => (await bench.states())['completed'] === 150)
      expect(runs).toEqual(new Map(ids.map((id) => [id, 1])))
      expect((await all(bench, ids.slice(0, 20))).map(({ attempt }) => attempt)).toEqual(Array.from({ length: 20 }, () => 1))
      await Promise.all(workers.map((worker) => worker.stop()))
      await Promise.all(ended)
    })

    it('[W2] jobs that are held for longer than their lease are not reclaimed', async () => {
      const bench = await open()
      const ids = await enqueue(bench, 4)
      const { runs, handler } = countingHandler(bench, 1_000)
      const worker = bench.worker({ handlers: [handler], poll: 20, lease: 1_500, queues: { default: { prefetch: 4, concurrency: 1 } } })
      const ended = worker.run({ signals: false })
      const reclaimed: string[] = []
      await bench.until(async () => {
        const { requeued, dead } = await bench.jobs.reclaim()
        reclaimed.push(...requeued, ...dead)
        return (await bench.states())['completed'] === 4
      }, 20_000)
      expect(reclaimed).toEqual([])
      expect(runs).toEqual(new Map(ids.map((id) => [id, 1])))
      expect((await all(bench, ids)).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
      await worker.stop()
      await ended
    })

    it('[W3] [I6] [I8] a worker that is stopped gives back what it has not started', async () => {
      const bench = await open()
      const ids = await enqueue(bench, 5)
      const { runs, handler } = countingHandler(bench, 800)
      const worker = bench.worker({ handlers: [handler], poll: 20, grace: '10s', queues: { default: { prefetch: 5, concurrency: 1 } } })
      const ended = worker.run({ signals: false })
      await bench.until(async () => (await bench.states())['running'] === 5 && runs.size > 0, 10_000)
      const from = bench.clock.monotonic()
      await worker.stop()
      await ended
      expect(bench.clock.monotonic() - from).toBeLessThan(5_000)

      expect(runs).toEqual(new Map([[ids[0], 1]]))
      const [first, ...others] = await all(bench, ids)
      expect(first).toMatchObject({ state: 'completed', attempt: 1 })
      for (const other of others) {
        expect(other).toMatchObject({ state: 'pending', attempt: 0 })
        expect(other).not.toHaveProperty('startedAt')
      }
      const claimed = await bench.claim({ limit: 10 })
      expect(claimed.map(({ id }) => id)).toEqual(ids.slice(1))
      await bench.store.finish(claimed.map(({ lease }) => ({ lease, kind: 'release' })))
    })

    it('[W4] a pause gives back what has not started', async () => {
      const bench = await open()
      const ids = await enqueue(bench, 3)
      const starts: JobId[] = []
      const permits = createPermits()
      const handler = handle(work, async ({ job }) => {
        starts.push(job.id)
        await permits.take()
      })
      const worker = bench.worker({ handlers: [handler], poll: 50, queues: { default: { prefetch: 3, concurrency: 1 } } })
      const ended = worker.run({ signals: false })
      await bench.until(async () => starts.length === 1 && (await bench.states())['running'] === 3, 20_000)
      await bench.jobs.pause('default', { by: 'test' })
      await bench.clock.advance(300)
      permits.add(1)
      await bench.until(async () => (await bench.states())['pending'] === 2, 30_000)
      expect(starts).toEqual(ids.slice(0, 1))
      for (const id of ids.slice(1)) expect(await bench.find(id)).toMatchObject({ state: 'pending', attempt: 0 })
      await bench.jobs.resume('default')
      permits.add(10)
      await bench.until(async () => (await bench.states())['completed'] === 3, 30_000)
      expect(starts).toEqual(ids)
      await worker.stop()
      await ended
    })

    it('[W6] jobs that were held record when they really started', async () => {
      const bench = await open()
      const ids = await enqueue(bench, 3)
      const { handler } = countingHandler(bench, 200)
      const worker = bench.worker({ handlers: [handler], poll: 20, queues: { default: { prefetch: 3, concurrency: 1 } } })
      const ended = worker.run({ signals: false })
      await bench.until(async () => (await bench.states())['completed'] === 3, 30_000)
      await worker.stop()
      await ended
      const records = await all(bench, ids)
      expect(records.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
      const [a, b, c] = [...records].sort((x, y) => x.startedAt! - y.startedAt! || x.endedAt! - y.endedAt!)
      expect(b!.startedAt).toBeGreaterThanOrEqual(a!.endedAt!)
      expect(c!.startedAt).toBeGreaterThanOrEqual(b!.endedAt!)
      for (const { startedAt, endedAt } of records) expect(endedAt! - startedAt!).toBeGreaterThanOrEqual(199)
    })

    it('[I7] 10,000 jobs enqueued in one call run in their order at concurrency 1', async () => {
      const bench = await open()
      const ids = await enqueue(bench, 10_000)
      const order: JobId[] = []
      const worker = bench.worker({ handlers: [handle(work, ({ job }) => void order.push(job.id))], queues: { default: 1 } })
      expect(await worker.runOnce()).toEqual({ started: 10_000 })
      expect(order).toEqual(ids)
      expect(await bench.states()).toEqual({ completed: 10_000 })
    })
  },
  { clock: 'system' },
)
