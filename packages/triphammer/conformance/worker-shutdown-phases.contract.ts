import { expect, it } from 'vitest'
import { TriphammerError } from '../src/core/errors.ts'
import type { JobRecord } from '../src/store/admin.ts'
import type { Store } from '../src/store/store.ts'
import type { ClaimRequest, JobId } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, eavesdrop, forEachBench, interpose, type Permits, turns, type Verb, work } from './worker.ts'

interface Gate {
  readonly store: Store
  /** From now on a call waits for a permit before it goes to the store. */
  shut(): void
  /** Whoever waits goes on, and everybody after. */
  open(): void
  readonly permits: Permits
}

// A store at one of whose verbs a worker can be stopped.
function gateAt(store: Store, isMeant: (verb: Verb, args: readonly unknown[]) => boolean): Gate {
  const permits = createPermits()
  let isShut = false
  return {
    permits,
    shut() {
      isShut = true
    },
    open() {
      isShut = false
      permits.add(permits.waiting)
    },
    store: interpose(store, async (verb, call, args) => {
      if (isShut && isMeant(verb, args)) await permits.take()
      return call()
    }),
  }
}

const hasOutcome = (verb: Verb, [request, tx]: readonly unknown[]): boolean =>
  verb === 'finish' ? tx === undefined : verb === 'claim' && ((request as ClaimRequest).finish?.length ?? 0) > 0

async function recordsOf(bench: Bench, ids: readonly JobId[]): Promise<readonly JobRecord[]> {
  return Promise.all(ids.map(async (id) => (await bench.find(id))!))
}

forEachBench('runOnce that is stopped', (open) => {
  it('[I8] gives its running handlers the grace that the stop has said', async () => {
    const bench = await open()
    const permits = createPermits()
    const { id } = await bench.jobs.enqueue(work, {})
    const aborted: unknown[] = []
    const worker = bench.worker({
      handlers: [
        handle(work, async ({ signal }) => {
          signal.addEventListener('abort', () => aborted.push(signal.reason))
          await permits.take()
        }),
      ],
    })
    const once = worker.runOnce()
    await bench.until(() => permits.waiting === 1)
    const stopping = worker.stop({ grace: '20s' })
    await bench.clock.advance('19s')
    expect(aborted).toEqual([])
    permits.add(1)
    await bench.settled(Promise.all([once, stopping]), 100)
    expect(await once).toEqual({ started: 1 })
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
  })

  it('[I6] [I8] hands back what has not started, and what does not end', async () => {
    const bench = await open()
    const ids = (await bench.jobs.enqueueMany(work, [1, 2, 3])).map(({ id }) => id)
    const worker = bench.worker({
      handlers: [handle(work, () => new Promise(() => {}))],
      queues: { default: { concurrency: 1, prefetch: 3 } },
    })
    const once = worker.runOnce()
    await bench.until(() => worker.stats().running === 1)
    await bench.settled(Promise.all([once, worker.stop({ grace: '2s' })]), 3_100)
    for (const record of await recordsOf(bench, ids)) expect(record).toMatchObject({ state: 'pending', attempt: 0 })
  })

  it('before it has begun to work: it ends, and nothing has started', async () => {
    const bench = await open()
    await bench.jobs.enqueue(work, {})
    const worker = bench.worker({ handlers: [handle(work, () => {})] })
    const once = worker.runOnce()
    await bench.settled(Promise.all([worker.stop(), once]))
    expect(await once).toEqual({ started: 0 })
    expect(await bench.states()).toEqual({ pending: 1 })
  })
})

forEachBench('a worker that is stopped in the middle of', (open) => {
  it.each(['once', 'twice', 'three times'] as const)('[I10] a commit, %s: it lands with its effects, or neither does', async (times) => {
    const bench = await open()
    for (const inTime of [true, false]) {
      const permits = createPermits()
      const codes: unknown[] = []
      const { id } = await bench.jobs.enqueue(work, {})
      const { plugin, types } = eavesdrop()
      const handler = handle(work, async ({ commit }) => {
        await commit(async (tx) => {
          await tx.enqueue(work, {}, { queue: 'effects' })
          await permits.take()
        }).catch((error: { code: string }) => void codes.push(error.code))
      })
      const worker = await bench.started({ handlers: [handler], plugins: [plugin] })
      await bench.until(() => permits.waiting === 1)
      const stops = [worker.stop({ grace: '5s' })]
      await turns()
      if (inTime) permits.add(1)
      if (times !== 'once') stops.push(worker.stop())
      if (times === 'three times') stops.push(worker.stop())
      if (!inTime) {
        await bench.clock.advance(times === 'once' ? '6s' : '2s') // by then it has been given back
        await turns()
        permits.add(1)
      }
      await bench.settled(Promise.all(stops), 20_000)
      const effects = await bench.jobs.count({ queue: 'effects' })
      const { state, attempt } = (await bench.find(id))!
      expect([state, attempt, effects]).toEqual(state === 'completed' ? ['completed', 1, 1] : ['pending', 0, 0])
      if (inTime && times === 'once') expect(state).toBe('completed')
      if (!inTime) expect([state, codes]).toEqual(['pending', ['LEASE_LOST']])
      expect(types().filter((type) => type === 'job.lost')).toEqual([])
      await bench.jobs.delete({ all: true })
    }
  })

  it('[I8] a write of its last outcomes: they are written once, whatever else calls stop', async () => {
    const bench = await open()
    const gate = gateAt(bench.store, hasOutcome)
    const { plugin, types } = eavesdrop()
    const ids = (await bench.jobs.enqueueMany(work, [1, 2, 3])).map(({ id }) => id)
    gate.shut()
    const worker = await bench.started({ store: gate.store, handlers: [handle(work, () => {})], plugins: [plugin] })
    await bench.until(() => gate.permits.waiting > 0)
    const stops = [worker.stop(), worker.stop(), worker.stop({ grace: 0 })]
    await turns()
    gate.open()
    await bench.settled(Promise.all(stops), 1_000)
    for (const record of await recordsOf(bench, ids)) expect(record).toMatchObject({ state: 'completed', attempt: 1 })
    expect(types().filter((type) => type === 'job.completed')).toHaveLength(3)
    expect(types().filter((type) => type === 'worker.stopped')).toHaveLength(1)
  })

  it.each(['reclaim', 'maintain'] as const)('%s: it ends after the step that it is at, however much there is to do', async (verb) => {
    const bench = await open()
    for (let n = 0; n < 300; n++) bench.ids.next()
    await bench.jobs.enqueueMany(work, Array.from({ length: 2_500 }), { retain: 1 })
    for (let left = 2_500; left > 0; left -= 500) {
      const runs = await bench.claim({ limit: 500 })
      if (verb === 'maintain') await bench.store.finish(runs.map(({ lease }) => ({ lease, kind: 'completed' })))
    }
    await bench.clock.advance('61s')
    const gate = gateAt(bench.store, (called) => called === verb)
    gate.shut()
    let steps = 0
    const store = interpose(gate.store, (called, call) => {
      if (called === verb) steps++
      return call()
    })
    const worker = await bench.started({ store, handlers: [handle(work, () => {})], queues: { elsewhere: 1 } })
    await bench.until(() => gate.permits.waiting === 1)
    const stopping = worker.stop()
    await turns()
    gate.open()
    await bench.settled(stopping, 1_000)
    expect(steps).toBe(1)
    const { running = 0, completed = 0 } = await bench.states()
    expect(verb === 'reclaim' ? running : completed).toBeGreaterThan(1_000)
    await bench.jobs.delete({ all: true }, { force: true })
  })

  it('[I6] [I8] an outage that does not end: it ends all the same, and its jobs are reclaimed', async () => {
    const bench = await open()
    let isAway = false
    const store = interpose(bench.store, (_, call) =>
      isAway ? Promise.reject(new TriphammerError('STORE_UNAVAILABLE', 'the store is away')) : call(),
    )
    const permits = createPermits()
    const ids = (await bench.jobs.enqueueMany(work, [1, 2, 3])).map(({ id }) => id)
    const handler = handle(work, () => permits.take())
    const worker = await bench.started({ store, handlers: [handler], queues: { default: { concurrency: 1, prefetch: 3 } } })
    await bench.until(() => permits.waiting === 1)
    isAway = true
    bench.vanishes()
    const from = bench.clock.monotonic()
    const stops = [worker.stop({ grace: '3s' })]
    await bench.clock.advance('1s')
    stops.push(worker.stop(), worker.stop())
    await bench.settled(Promise.all(stops), 10_000)
    expect(bench.clock.monotonic() - from).toBeLessThan(8_000) // 5 s for the outcomes
    expect(await bench.states()).toEqual({ running: 3 })
    await bench.clock.advance('70s')
    permits.add(4) // one for the handler that was left behind
    const heir = await bench.started({ handlers: [handler] })
    await bench.clock.advance('20s')
    await bench.settled(heir.idle())
    for (const record of await recordsOf(bench, ids)) expect(record).toMatchObject({ state: 'completed', attempt: 2 })
  })

  it('[I6] [I8] an outage that ends in time: what is held goes back, what ran is written', async () => {
    const bench = await open()
    let isAway = false
    const store = interpose(bench.store, (_, call) => (isAway ? Promise.reject(new TriphammerError('STORE_BUSY', 'locked')) : call()))
    const permits = createPermits()
    const ids = (await bench.jobs.enqueueMany(work, [1, 2, 3])).map(({ id }) => id)
    const handler = handle(work, () => permits.take())
    const worker = await bench.started({ store, handlers: [handler], queues: { default: { concurrency: 1, prefetch: 3 } } })
    await bench.until(() => permits.waiting === 1)
    isAway = true
    const stopping = worker.stop()
    permits.add(1)
    await bench.clock.advance('3s')
    isAway = false
    await bench.settled(stopping, 5_000)
    const [ran, ...others] = await recordsOf(bench, ids)
    expect(ran).toMatchObject({ state: 'completed', attempt: 1 })
    for (const other of others) expect(other).toMatchObject({ state: 'pending', attempt: 0 })
  })

  it('[I8] a long wait between two tries of an outage: it tries at once, and finds the store that is back', async () => {
    const bench = await open()
    let isAway = false
    const store = interpose(bench.store, (_, call) => (isAway ? Promise.reject(new TriphammerError('STORE_UNAVAILABLE', 'away')) : call()))
    const permits = createPermits()
    const { id } = await bench.jobs.enqueue(work, {})
    const ids = { next: () => bench.ids.next(), random: () => 0.999 }
    const worker = await bench.started({ store, ids, handlers: [handle(work, () => permits.take())] })
    await bench.until(() => permits.waiting === 1)
    isAway = true
    permits.add(1)
    await bench.clock.advance('31s') // by now 5 s lie between two tries
    isAway = false
    const from = bench.clock.monotonic()
    await bench.settled(worker.stop(), 5_000)
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
    expect(bench.clock.monotonic() - from).toBeLessThan(100)
  })

  it.each<readonly [Verb, (bench: Bench) => Promise<unknown>]>([
    ['extend', (bench) => bench.clock.advance('25s')],
    ['beat', (bench) => bench.clock.advance('2s')],
  ])('its %s: it waits for the answer, and leaves nothing', async (verb, later) => {
    const bench = await open()
    const gate = gateAt(bench.store, (called) => called === verb)
    const { id } = await bench.jobs.enqueue(work, {})
    const permits = createPermits()
    const worker = await bench.started({ store: gate.store, handlers: [handle(work, () => permits.take())] })
    await bench.until(() => permits.waiting === 1)
    gate.shut()
    await later(bench)
    await turns()
    expect(gate.permits.waiting).toBeGreaterThan(0)
    const stopping = worker.stop()
    permits.add(1)
    await turns()
    gate.open()
    await bench.settled(stopping, 1_000)
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
  })

  it('its start, in the same breath, twice and before it: nothing runs, nothing is left, and it can be started again', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = bench.worker({ handlers: [handle(work, () => {})] })
    await Promise.all([worker.stop(), worker.stop()])
    const starting = worker.start()
    await bench.settled(Promise.all([worker.stop(), worker.stop(), worker.stop(), starting]))
    expect(await bench.find(id)).toMatchObject({ state: 'pending', attempt: 0 })
    await worker.start()
    const stopping = worker.stop()
    await expect(worker.start()).rejects.toMatchObject({ code: 'WORKER_STATE' })
    await bench.settled(stopping)
    await bench.settled(worker.runOnce())
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
  })
})
