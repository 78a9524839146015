import { expect, it } from 'vitest'
import { isTriphammerError } from '../src/core/errors.ts'
import { defineTask, type EnqueueOptions } from '../src/core/task.ts'
import type { Plugin } from '../src/extend/plugin.ts'
import type { JobId } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, eavesdrop, forEachBench, interpose, turns, work } from './worker.ts'

// A run whose worker has crashed: claimed, and never heard of again. Its lease of a minute has run out.
async function crashed(bench: Bench, options: EnqueueOptions = {}): Promise<JobId> {
  const { id } = await bench.jobs.enqueue(work, {}, options)
  await bench.claim({ limit: 1 })
  return id
}

forEachBench('leases of running jobs', (open) => {
  it('a heartbeat keeps a job for much longer than its lease', async () => {
    const bench = await open()
    let runs = 0
    const permits = createPermits()
    const handler = handle(work, async () => {
      runs++
      await permits.take()
    })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ handlers: [handler], lease: '3s' })
    await bench.started({ store: await bench.another(), handlers: [handler], lease: '3s' })
    for (let second = 0; second < 60; second++) {
      await bench.clock.advance('1s')
      await turns()
      expect(await bench.jobs.reclaim()).toEqual({ requeued: [], dead: [], cancelled: [] })
    }
    permits.add(2)
    await bench.until(async () => (await bench.states())['completed'] === 1)
    expect(runs).toBe(1)
    expect(await bench.find(id)).toMatchObject({ attempt: 1 })
  })

  it('[I1] [I3] who has lost a lease learns it: its signal aborts, and what it returns writes nothing', async () => {
    const bench = await open()
    // Its calls hang, as if the process had been suspended; later they go on.
    const suspended = createPermits()
    let hangs = false
    const store = interpose(bench.store, async (_, call) => {
      if (hangs) await suspended.take()
      return call()
    })
    const permits = createPermits()
    const reasons: unknown[] = []
    const { plugin, types } = eavesdrop()
    const handler = handle(work, async ({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      await permits.take()
      return 'first'
    })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handler], lease: '3s', queues: { default: 1 }, plugins: [plugin] })
    await bench.until(() => permits.waiting === 1)
    hangs = true
    await bench.clock.advance('4s')
    expect((await bench.jobs.reclaim()).requeued).toEqual([id])
    const [second] = await bench.claim({ limit: 1 })
    expect(second).toMatchObject({ id, attempt: 2 })
    expect(reasons).toEqual([])

    hangs = false
    suspended.add(suspended.waiting)
    await bench.until(() => reasons.length === 1, 1_100)
    expect(isTriphammerError(reasons[0], 'LEASE_LOST')).toBe(true)
    permits.add(1)
    await bench.until(() => types().includes('job.lost'))
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.started', 'job.lost'])
    expect(await bench.find(id)).toMatchObject({ state: 'running', attempt: 2 })
    expect(await bench.store.finish([{ lease: second!.lease, kind: 'completed' }])).toMatchObject([{ state: 'applied' }])
  })

  it('[I3] a machine that has slept takes its own jobs up again and does not reclaim them from itself', async () => {
    const bench = await open()
    const permits = createPermits()
    const attempts: number[] = []
    const handler = handle(work, async ({ attempt }) => {
      attempts.push(attempt)
      await permits.take()
    })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ handlers: [handler], lease: '12s' })
    await bench.until(() => attempts.length === 1)
    for (let nap = 0; nap < 20; nap++) {
      // The store's clock has gone on; the process has not noticed.
      bench.clock.setWallClock(bench.clock.now() + 60_000)
      await bench.clock.advance(3_700)
      await turns()
    }
    expect(attempts).toEqual([1])
    expect((await bench.find(id))!.leaseUntil! - bench.clock.now()).toBeGreaterThan(0)
    permits.add(1)
    await bench.until(async () => (await bench.find(id))?.state === 'completed')
    expect(await bench.find(id)).toMatchObject({ attempt: 1 })
  })

  it('[I3] a person’s retry takes a running job away from its worker, who learns it within a pulse', async () => {
    const bench = await open()
    const permits = createPermits()
    const runs: { attempt: number; reason?: unknown }[] = []
    const handler = handle(work, async ({ attempt, signal }) => {
      const run: { attempt: number; reason?: unknown } = { attempt }
      runs.push(run)
      signal.addEventListener('abort', () => {
        run.reason = signal.reason.code
      })
      await permits.take()
      return attempt
    })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ handlers: [handler], queues: { default: 2 } })
    await bench.until(() => runs.length === 1)
    await bench.jobs.retry(id)
    await bench.until(() => runs.length === 2 && runs[0]!.reason !== undefined, 1_100)
    expect(runs).toEqual([{ attempt: 1, reason: 'LEASE_LOST' }, { attempt: 2 }])
    permits.add(2)
    await bench.until(async () => (await bench.states())['completed'] === 1)
    expect(await bench.find(id)).toMatchObject({ attempt: 2 })
    if (bench.store.facets.results) expect((await bench.jobs.get(id))!.result).toBe(2)
  })
})

forEachBench('jobs of crashed workers', (open) => {
  it('another worker reclaims them and runs them again; the crashed attempt counts', async () => {
    const bench = await open()
    const id = await crashed(bench)
    const attempts: number[] = []
    await bench.started({ handlers: [handle(work, ({ attempt }) => void attempts.push(attempt))] })
    await bench.clock.advance('59s')
    await turns()
    expect(attempts).toEqual([])
    await bench.until(() => attempts.length === 1, 20_000) // a reclaim pass every quarter of a lease, with jitter
    expect(attempts).toEqual([2])
    await bench.until(async () => (await bench.find(id))?.state === 'completed')
  })

  it('dead when their attempts are used up, or when the worker allows no more', async () => {
    const bench = await open()
    const last = await crashed(bench, { maxAttempts: 1 })
    const lowered = await crashed(bench, { maxAttempts: 5 })
    await bench.clock.advance('61s')
    let runs = 0
    await bench.started({ handlers: [handle(work, () => void runs++)], maxAttempts: 1 })
    await bench.until(async () => (await bench.states())['dead'] === 2, 20_000)
    for (const id of [last, lowered]) expect(await bench.find(id)).toMatchObject({ attempt: 1, error: { code: 'LEASE_EXPIRED' } })
    expect(runs).toBe(0)
  })

  it('of tasks that the worker does not handle: by their own attempts, its limit is none of theirs', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(defineTask('foreign'), {}, { maxAttempts: 2 })
    await bench.claim({ limit: 1 })
    const own = await crashed(bench, { maxAttempts: 2 })
    await bench.clock.advance('61s')
    await bench.started({ handlers: [handle(work, () => {})], maxAttempts: 1 })
    await bench.until(async () => (await bench.find(own))?.state === 'dead', 20_000)
    expect(await bench.find(id)).toMatchObject({ state: 'pending', attempt: 1 })
  })

  it('cancelled when a cancel had been requested', async () => {
    const bench = await open()
    const id = await crashed(bench)
    await bench.jobs.cancel(id, { reason: 'too late' })
    await bench.clock.advance('61s')
    await bench.started({ handlers: [handle(work, () => {})] })
    await bench.until(async () => (await bench.find(id))?.state === 'cancelled', 20_000)
    expect(await bench.find(id)).toMatchObject({ error: { message: 'too late' } })
  })

  it('a person’s reclaim does the same, and says what became of each', async () => {
    const bench = await open()
    const again = await crashed(bench)
    const last = await crashed(bench, { maxAttempts: 1 })
    const cancelled = await crashed(bench)
    await bench.jobs.cancel(cancelled)
    expect(await bench.jobs.reclaim()).toEqual({ requeued: [], dead: [], cancelled: [] })
    await bench.clock.advance('61s')
    expect(await bench.jobs.reclaim()).toEqual({ requeued: [again], dead: [last], cancelled: [cancelled] })
    expect(await bench.states()).toEqual({ pending: 1, dead: 1, cancelled: 1 })
    expect(await bench.find(again)).toMatchObject({ attempt: 1, runAt: bench.clock.now() })
  })

  it('[I4] their events and follow-ups happen as for any other end', async () => {
    const bench = await open()
    await crashed(bench, { maxAttempts: 1, queue: 'default' })
    await bench.clock.advance('61s')
    const { plugin, types } = eavesdrop()
    const mourners: Plugin = {
      name: 'mourners',
      setup: ({ followUp }) => followUp(({ id, state }) => [work.with({ of: id, state }, { queue: 'elsewhere' })]),
    }
    await bench.started({ handlers: [handle(work, () => {})], plugins: [plugin, mourners] })
    await bench.until(() => types().includes('job.dead'), 20_000)
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.dead'])
    const { jobs } = await bench.jobs.list({ queue: 'elsewhere' })
    expect(jobs).toMatchObject([{ state: 'pending', payload: { state: 'dead' } }])
  })
})
