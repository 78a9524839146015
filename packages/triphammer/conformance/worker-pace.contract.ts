import { expect, it } from 'vitest'
import type { Ids } from '../src/core/ids.ts'
import type { WakeupsFacet } from '../src/store/facets.ts'
import { handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, forEachBench, interpose, turns, type Verb, work } from './worker.ts'

// The store, and when each of the calls came that a worker makes of one verb.
function timed({ store, clock }: Bench, verb: Verb, counts: (args: readonly unknown[]) => boolean = () => true) {
  const at: number[] = []
  const observed = interpose(store, (called, call, args) => {
    if (called === verb && counts(args)) at.push(clock.monotonic())
    return call()
  })
  return { store: observed, pauses: () => at.slice(1).map((moment, n) => moment - at[n]!) }
}

forEachBench('the pace of a worker', (open) => {
  it.each([
    { random: 0, pause: 11_250 },
    { random: 0.5, pause: 15_000 },
    { random: 0.999, pause: 18_743 },
  ])('reclaims every quarter of its lease of 60 s, give or take a quarter of that: $pause ms', async ({ random, pause }) => {
    const bench = await open()
    const ids: Ids = { next: () => bench.ids.next(), random: () => random }
    const { store, pauses } = timed(bench, 'reclaim')
    await bench.started({ store, ids, handlers: [handle(work, () => {})] })
    for (let step = 0; step < 120; step++) await bench.clock.advance('1s')
    expect(pauses().length).toBeGreaterThanOrEqual(5)
    for (const waited of pauses()) expect(Math.abs(waited - pause)).toBeLessThanOrEqual(1)
  })

  it('has a pulse each second', async () => {
    const bench = await open()
    const quiet = timed(bench, 'beat')
    await bench.started({ store: quiet.store, handlers: [handle(work, () => {})] })
    await bench.clock.advance('10s')
    expect(quiet.pauses().filter((waited) => waited > 0)).toEqual(Array.from({ length: 10 }, () => 1_000))
  })

  it('has no more than one pulse in 200 ms, however often it is woken', async () => {
    const bench = await open()
    const busy = timed(bench, 'beat')
    let wake = (): void => {}
    const wakeups: WakeupsFacet = {
      subscribe(_, given) {
        wake = given
        return () => {}
      },
    }
    await bench.started({ store: { ...busy.store, facets: { ...bench.store.facets, wakeups } }, handlers: [handle(work, () => {})] })
    await bench.clock.advance('1s')
    for (let step = 0; step < 200; step++) {
      wake()
      await bench.clock.advance(10)
    }
    const woken = busy.pauses().filter((waited) => waited > 0 && waited < 1_000)
    expect(woken.length).toBeGreaterThanOrEqual(8)
    for (const waited of woken) expect(waited).toBeGreaterThanOrEqual(200)
  })

  it('extends the lease of a running job each third of it, also while its look for the leases of others is stuck', async () => {
    const bench = await open()
    const [permits, stuck] = [createPermits(), createPermits()]
    const { store, pauses } = timed(bench, 'extend', ([, options]) => (options as { leaseMs?: number }).leaseMs !== undefined)
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({
      store: interpose(store, async (verb, call) => {
        if (verb === 'reclaim') await stuck.take()
        return call()
      }),
      handlers: [handle(work, () => permits.take())],
    })
    await bench.until(() => permits.waiting === 1)
    for (let step = 0; step < 300; step++) {
      await bench.clock.advance('1s')
      expect((await bench.find(id))!.leaseUntil! - bench.clock.now()).toBeGreaterThanOrEqual(30_000)
    }
    expect(pauses().filter((waited) => waited > 0)).toEqual(Array.from({ length: 14 }, () => 20_000))
    permits.add(1)
    stuck.add(10)
  })
})

forEachBench('what a worker does for all, in one pass', (open) => {
  it('cleans up all completed jobs whose time is over, however many', async () => {
    const bench = await open()
    await bench.jobs.enqueueMany(work, Array.from({ length: 2_100 }), { retain: '1m' })
    for (let runs = await bench.jobs.claim('default', { max: 1_000 }); runs.length > 0; ) {
      await bench.store.finish(runs.map(({ lease }) => ({ lease, kind: 'completed' })))
      runs = await bench.jobs.claim('default', { max: 1_000 })
    }
    const { id } = await bench.jobs.enqueue(work, {}, { delay: '1h' })
    await bench.clock.advance('1m')
    await bench.started({ handlers: [handle(work, () => {})] })
    await turns() // no time passes
    expect((await bench.jobs.list()).jobs.map((job) => job.id)).toEqual([id])
  })

  it('reclaims all jobs of crashed workers, however many', async () => {
    const bench = await open()
    await bench.jobs.enqueueMany(work, Array.from({ length: 250 }), { maxAttempts: 1 })
    expect(await bench.jobs.claim('default', { max: 1_000, lease: '1m' })).toHaveLength(250)
    await bench.clock.advance('1m')
    await bench.started({ handlers: [handle(work, () => {})] })
    await turns() // no time passes
    expect(await bench.states()).toEqual({ dead: 250 })
  })
})
