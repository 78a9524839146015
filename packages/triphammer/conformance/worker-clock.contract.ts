import { expect, it } from 'vitest'
import { fixed } from '../src/core/retry.ts'
import type { JobId } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import type { WorkerOptions } from '../src/worker/options.ts'
import type { Worker } from '../src/worker/worker.ts'
import { type Bench, createPermits, forEachBench, type Permits, turns, work } from './worker.ts'

const DAY_MS = 86_400_000

const jump = ({ clock }: Bench, ms: number): void => clock.setWallClock(clock.now() + ms)

interface Busy {
  readonly worker: Worker
  readonly ids: readonly JobId[]
  /** Each start: the job and its attempt. */
  readonly starts: readonly { readonly id: JobId; readonly attempt: number }[]
  readonly permits: Permits
}

// A worker that runs two jobs and holds three, until permits are there.
async function busy(bench: Bench, options: Partial<WorkerOptions> = {}): Promise<Busy> {
  const permits = createPermits()
  const starts: { id: JobId; attempt: number }[] = []
  const ids = (await bench.jobs.enqueueMany(work, Array.from({ length: 5 }))).map(({ id }) => id)
  const handler = handle(work, async ({ job, attempt }) => {
    starts.push({ id: job.id, attempt })
    await permits.take()
  })
  const worker = await bench.started({ handlers: [handler], queues: { default: { concurrency: 2, prefetch: 5 } }, ...options })
  await bench.until(() => permits.waiting === 2 && worker.stats().held === 3)
  return { worker, ids, starts, permits }
}

// Another worker of the same tasks, in another queue: it has nothing to do but to look for expired leases.
async function reclaimer(bench: Bench, options: Partial<WorkerOptions> = {}): Promise<Worker> {
  return bench.started({ store: await bench.another(), handlers: [handle(work, () => {})], queues: { elsewhere: 1 }, ...options })
}

async function completesAll(bench: Bench, { ids, starts, permits }: Busy): Promise<void> {
  permits.add(ids.length)
  await bench.until(async () => (await bench.states())['completed'] === ids.length)
  expect(starts.map(({ attempt }) => attempt)).toEqual(ids.map(() => 1))
  expect(new Set(starts.map(({ id }) => id)).size).toBe(ids.length)
  expect(bench.logged.filter(({ message }) => message.includes('reclaimed'))).toEqual([])
}

// Claimed, and never heard of again.
async function crashed(bench: Bench): Promise<JobId> {
  const { id } = await bench.jobs.enqueue(work, {})
  await bench.claim({ limit: 1 })
  return id
}

// Between the heartbeats, each third of a lease of a minute, and the looks for expired leases, each quarter of it.
const MOMENTS = [0, 3, 7, 11, 14, 16, 19, 21, 26, 33, 41, 52]
const FEWER = [0, 11, 19, 33]

forEachBench('the machine’s clock is set forward by a day', (open) => {
  it.each(FEWER)('[I3] nobody takes a job from a live worker, %d s after the start', async (seconds) => {
    const bench = await open()
    const own = await busy(bench)
    await reclaimer(bench)
    await bench.clock.advance(seconds * 1_000)
    jump(bench, DAY_MS)
    await bench.clock.advance('70s')
    await turns()
    expect(own.starts).toHaveLength(2)
    await completesAll(bench, own)
  })

  it.each([
    { theirs: '10m', mine: '30s' },
    { theirs: '30s', mine: '10m' },
  ])('[I3] nor one with other leases: $theirs against $mine', async ({ theirs, mine }) => {
    const bench = await open()
    const own = await busy(bench, { lease: theirs })
    await reclaimer(bench, { lease: mine })
    await bench.clock.advance('31s')
    jump(bench, DAY_MS)
    await bench.clock.advance('4m')
    await turns()
    await completesAll(bench, own)
  })

  // Between two pulses of the live worker: it is not asked to extend before its leases are looked at.
  it.each(MOMENTS)('[I3] nor from one that has not noticed yet, %d s after the start', async (seconds) => {
    const bench = await open()
    const own = await busy(bench, { pulse: '1h' })
    await reclaimer(bench)
    await bench.clock.advance(seconds * 1_000)
    jump(bench, DAY_MS)
    await bench.clock.advance('70s')
    await turns()
    await completesAll(bench, own)
  })

  it('[I3] nor when the jump is shorter than a lease', async () => {
    const bench = await open()
    const own = await busy(bench, { pulse: '1h' })
    await reclaimer(bench)
    for (let times = 0; times < 8; times++) {
      await bench.clock.advance(20_000 + times * 3_000)
      jump(bench, 50_000)
      await bench.clock.advance('40s')
    }
    await turns()
    await completesAll(bench, own)
  })

  it('[I8] the jobs of a worker that crashed come back all the same, and also when the clock jumps again and again', async () => {
    const bench = await open()
    const first = await crashed(bench)
    const own = await reclaimer(bench)
    jump(bench, DAY_MS)
    await bench.clock.advance('60s')
    await turns()
    expect(await bench.find(first)).toMatchObject({ state: 'pending', attempt: 1, error: { code: 'LEASE_EXPIRED' } })
    const second = await crashed(bench)
    for (let times = 0; times < 12; times++) {
      jump(bench, 3_600_000)
      await bench.clock.advance('10s')
    }
    expect((await bench.jobs.list({ id: [first, second] })).jobs.filter(({ state }) => state === 'running')).toEqual([])
    await own.stop()
  })

  it('[I5] what the store’s clock decides comes early: delays, retries, retention', async () => {
    const bench = await open()
    const seen: unknown[] = []
    const short = await bench.jobs.enqueue(work, 'kept for an hour', { retain: '1h' })
    const long = await bench.jobs.enqueue(work, 'kept for a week')
    await bench.jobs.enqueue(work, 'in 23 h', { delay: '23h' })
    await bench.jobs.enqueue(work, 'in 25 h', { delay: '25h' })
    await bench.jobs.enqueue(work, 'again in 23 h', { retry: fixed('23h') })
    const handler = handle(work, ({ payload, attempt }) => {
      seen.push(payload)
      if (payload === 'again in 23 h' && attempt === 1) throw new Error('once')
    })
    await bench.started({ handlers: [handler] })
    await bench.until(async () => seen.length === 3 && (await bench.jobs.count({ state: 'running' })) === 0)
    jump(bench, DAY_MS)
    await bench.clock.advance('2s')
    await turns()
    expect(seen.slice(3).sort()).toEqual(['again in 23 h', 'in 23 h'])
    await bench.clock.advance('40s') // a pass each half a minute, with jitter
    await turns()
    expect(await bench.find(short.id)).toBeUndefined()
    expect(await bench.find(long.id)).toMatchObject({ state: 'completed' })
  })

  it('time limits, graces and pulses do not notice', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {}, { timeout: '5m', maxAttempts: 1 })
    const worker = await bench.started({ handlers: [handle(work, () => new Promise(() => {}))] })
    await reclaimer(bench)
    await bench.until(() => worker.stats().running === 1)
    jump(bench, DAY_MS)
    await bench.clock.advance('4m')
    expect(await bench.find(id)).toMatchObject({ state: 'running', attempt: 1 })
    expect(await bench.jobs.workers()).toHaveLength(2)
    await bench.clock.advance('61s')
    await turns()
    expect(await bench.find(id)).toMatchObject({ state: 'timed_out' })
    const from = bench.clock.monotonic()
    const late = await bench.jobs.enqueue(work, {}, { timeout: '100ms', maxAttempts: 1 })
    await bench.until(async () => (await bench.find(late.id))?.state === 'timed_out', 2_000)
    expect(bench.clock.monotonic() - from).toBeLessThan(2_000)
  })
})

forEachBench('the machine’s clock is set back by a day', (open) => {
  it.each(FEWER)('[I3] running and held jobs go on and end, %d s after the start', async (seconds) => {
    const bench = await open()
    const own = await busy(bench)
    await reclaimer(bench)
    await bench.clock.advance(seconds * 1_000)
    jump(bench, -DAY_MS)
    await bench.clock.advance('70s')
    await completesAll(bench, own)
  })

  it('[I3] and forward again: nothing is taken, nothing is lost', async () => {
    const bench = await open()
    const own = await busy(bench)
    await reclaimer(bench)
    for (const ms of [DAY_MS, -DAY_MS, -DAY_MS, DAY_MS, 2 * DAY_MS, -2 * DAY_MS]) {
      jump(bench, ms)
      await bench.clock.advance('47s')
    }
    await completesAll(bench, own)
  })

  it('[I5] a job that was due before is due again when the clock is there, or when a person says so; new ones run at once', async () => {
    const bench = await open()
    const seen: unknown[] = []
    await bench.jobs.enqueueMany(work, ['first', 'second'])
    jump(bench, -DAY_MS)
    await bench.jobs.enqueueMany(work, ['third', 'fourth'])
    await bench.started({ handlers: [handle(work, ({ payload }) => void seen.push(payload))], queues: { default: 1 } })
    await bench.clock.advance('2m')
    await turns()
    expect(seen).toEqual(['third', 'fourth'])
    const { jobs } = await bench.jobs.list({ state: 'pending' }, { order: 'oldest' })
    expect(jobs).toMatchObject([{ waitsFor: 'time' }, { waitsFor: 'time' }])
    await bench.jobs.reschedule(jobs[1]!.id, { delay: 0 })
    await bench.until(() => seen.length === 3, 2_000)
    jump(bench, DAY_MS)
    await bench.until(() => seen.length === 4, 2_000)
    expect(seen).toEqual(['third', 'fourth', 'second', 'first'])
  })

  it('[I8] the jobs of a worker that crashed wait for the end of their leases, or for a person; none is lost', async () => {
    const bench = await open()
    const [first, second] = [await crashed(bench), await crashed(bench)]
    jump(bench, -DAY_MS)
    const attempts: number[] = []
    await bench.started({ handlers: [handle(work, ({ attempt }) => void attempts.push(attempt))] })
    await bench.clock.advance('3m')
    expect(await bench.states()).toEqual({ running: 2 })
    await bench.jobs.retry(first)
    await bench.until(async () => (await bench.find(first))?.state === 'completed', 2_000)
    jump(bench, DAY_MS)
    await bench.clock.advance('90s')
    await turns()
    expect(await bench.find(second)).toMatchObject({ state: 'completed' })
    expect(attempts).toEqual([2, 2])
  })

  it('[I7] ids go on rising, and jobs run in the order of their run times', async () => {
    const bench = await open()
    const ids: JobId[] = []
    for (const ms of [0, DAY_MS, -2 * DAY_MS, DAY_MS, 0]) {
      jump(bench, ms)
      ids.push(...(await bench.jobs.enqueueMany(work, [ids.length, ids.length + 1])).map(({ id }) => id))
    }
    expect([...ids].sort()).toEqual(ids)
    jump(bench, 10 * DAY_MS)
    const seen: unknown[] = []
    const worker = bench.worker({ handlers: [handle(work, ({ payload }) => void seen.push(payload))], queues: { default: 1 } })
    await bench.settled(worker.runOnce())
    expect(seen).toEqual([4, 5, 0, 1, 6, 7, 8, 9, 2, 3])
  })

  it('a session that ended without a word before is not believed idle, and is forgotten', async () => {
    const bench = await open()
    const gone = { host: 'h', pid: 1, startedAt: 0, queues: ['default'], tasks: [], concurrency: 1, running: 0, held: 0, idle: ['default'] }
    await bench.store.beat({ id: bench.ids.next(), ...gone })
    const live = { ...gone, id: bench.ids.next(), idle: [] }
    expect(await bench.store.beat(live)).toMatchObject({ wanted: ['default'] })
    jump(bench, -DAY_MS)
    expect(await bench.store.beat(live)).toMatchObject({ wanted: [] })
    await bench.store.maintain({ session: live.id, limit: 10 })
    expect((await bench.jobs.workers()).map(({ id }) => id)).toEqual([live.id])
    await bench.store.beat({ ...live, leaving: true })
  })
})
