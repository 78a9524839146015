import { expect, it } from 'vitest'
import { defineTask } from '../src/core/task.ts'
import type { WakeupsFacet } from '../src/store/facets.ts'
import type { Store } from '../src/store/store.ts'
import type { Claimed, ClaimRequest } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, forEachBench, interpose, turns, work } from './worker.ts'

// The store without wake-ups, and with `hint` in the place of what it knows of jobs that are due later.
function silent(
  { store }: Bench,
  hint: (claimed: Claimed) => number | undefined = () => undefined,
): { readonly store: Store; looks: number } {
  const { wakeups, ...facets } = store.facets
  const counted = {
    looks: 0,
    store: {
      ...interpose(store, async (verb, call) => {
        if (verb !== 'claim') return call()
        counted.looks++
        const { dueInMs, ...claimed } = (await call()) as Claimed
        const hinted = hint(claimed)
        return hinted === undefined ? claimed : { ...claimed, dueInMs: hinted }
      }),
      facets,
    },
  }
  return counted
}

forEachBench('looking for work', (open) => {
  it('an idle worker that nothing wakes looks once a second', async () => {
    const bench = await open()
    const counted = silent(bench)
    let runs = 0
    await bench.started({ store: counted.store, handlers: [handle(work, () => void runs++)] })
    await bench.clock.advance('1s')
    counted.looks = 0
    await bench.clock.advance('20s')
    expect(counted.looks).toBeGreaterThanOrEqual(19)
    expect(counted.looks).toBeLessThanOrEqual(21)
    await bench.jobs.enqueue(work, {})
    await bench.clock.advance('1s')
    await turns()
    expect(runs).toBe(1)
  })

  it('at once while there is work, however seldom it polls', async () => {
    const bench = await open()
    await bench.jobs.enqueueMany(work, Array.from({ length: 100 }))
    let runs = 0
    await bench.started({
      store: silent(bench).store,
      handlers: [handle(work, () => void runs++)],
      queues: { default: { concurrency: 2, prefetch: 5 } },
      poll: '1h',
    })
    for (let round = 0; runs < 100 && round < 100; round++) await turns() // no time passes
    expect(runs).toBe(100)
  })

  it('when the next job falls due, if the store tells when that is', async () => {
    const bench = await open()
    const dueAt = bench.clock.now() + 300
    const starts: number[] = []
    const { store } = silent(bench, ({ runs }) => (runs.length === 0 ? dueAt - bench.clock.now() : undefined))
    await bench.jobs.enqueue(work, {}, { runAt: dueAt })
    await bench.started({ store, handlers: [handle(work, () => void starts.push(bench.clock.now()))], poll: '1h' })
    await bench.clock.advance(299)
    await turns()
    expect(starts).toEqual([])
    await bench.clock.advance(1)
    await turns()
    expect(starts).toEqual([dueAt])
  })

  it('within a pulse of a resume, however seldom it polls and although nothing wakes it', async () => {
    const bench = await open()
    let runs = 0
    await bench.started({ store: silent(bench).store, handlers: [handle(work, () => void runs++)], poll: '1h' })
    await bench.clock.advance('3s') // it has found nothing, and does not look for an hour
    await bench.jobs.pause('default')
    await bench.clock.advance('3s')
    await bench.jobs.enqueue(work, {})
    await bench.jobs.resume('default')
    await turns()
    expect(runs).toBe(0)
    await bench.until(() => runs === 1, 1_000)
  })

  it('for its own tasks alone: others stay for whoever handles them', async () => {
    const bench = await open()
    const other = defineTask('other')
    const { id } = await bench.jobs.enqueue(other, {}, { priority: 'critical' })
    await bench.jobs.enqueue(work, {})
    let runs = 0
    const worker = bench.worker({ handlers: [handle(work, () => void runs++)] })
    await bench.settled(worker.runOnce())
    expect(runs).toBe(1)
    expect(await bench.find(id)).toMatchObject({ state: 'pending', attempt: 0 })
  })

  it('by the weights of its queue', async () => {
    const bench = await open()
    const starts: unknown[] = []
    const levels = ['critical', 'normal', 'low'] as const
    await bench.jobs.enqueueMany(levels.map((priority) => work.with(priority, { priority })))
    const worker = bench.worker({
      handlers: [handle(work, ({ payload }) => void starts.push(payload))],
      queues: { default: { concurrency: 1, prefetch: 1, weights: { critical: 0, high: 0, normal: 0, background: 0 } } },
    })
    await bench.settled(worker.runOnce())
    expect(starts).toEqual(['low', 'critical', 'normal'])
  })
})

forEachBench('an empty claim', (open) => {
  it('is no proof of an empty queue when the store says that something is due: runOnce looks again', async () => {
    const bench = await open()
    let elsewhere = 3
    const store = interpose(bench.store, async (verb, call, [request]) => {
      // Another handle was at the job, as stores with many writers have it; then it was free again.
      const isOther = verb === 'claim' && (request as ClaimRequest).limit > 0 && elsewhere-- > 0
      return isOther ? ({ runs: [], finished: [], dueInMs: 0 } satisfies Claimed) : call()
    })
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = bench.worker({ store, handlers: [handle(work, () => {})], poll: '1h' })
    expect(await bench.settled(worker.runOnce(), 1_000)).toEqual({ started: 1 })
    expect(await bench.find(id)).toMatchObject({ state: 'completed' })
  })

  it('does not outweigh a wake-up that came while it was under way', async () => {
    const bench = await open()
    const permits = createPermits()
    const wakes: (() => void)[] = []
    const wakeups: WakeupsFacet = {
      subscribe(_, wake) {
        wakes.push(wake)
        return () => {}
      },
    }
    const store = {
      ...interpose(bench.store, async (verb, call) => {
        const answer = await call()
        if (verb === 'claim') await permits.take()
        return answer
      }),
      facets: { ...bench.store.facets, wakeups },
    }
    let runs = 0
    await bench.started({ store, handlers: [handle(work, () => void runs++)], poll: '1h' })
    await bench.until(() => permits.waiting === 1) // the queue was empty, and the answer is on its way
    await bench.jobs.enqueue(work, {})
    for (const wake of wakes) wake()
    permits.add(100)
    await turns() // no time passes
    expect(runs).toBe(1)
  })
})

forEachBench('what a claim brings too late', (open) => {
  it('[I6] its queue was paused meanwhile: back at once, unstarted', async () => {
    const bench = await open()
    const permits = createPermits()
    let runs = 0
    const store = interpose(bench.store, async (verb, call) => {
      const answer = await call()
      if (verb === 'claim' && (answer as Claimed).runs.length > 0) await permits.take()
      return answer
    })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handle(work, () => void runs++)] })
    await bench.until(() => permits.waiting === 1)
    await bench.jobs.pause('default')
    await bench.clock.advance('1s')
    await turns()
    permits.add(1)
    await turns() // no time passes, so no pulse
    expect(runs).toBe(0)
    const record = await bench.find(id)
    expect(record).toMatchObject({ state: 'pending', attempt: 0 })
    expect(record).not.toHaveProperty('startedAt')
  })

  it('[I6] a job that is to be cancelled: cancelled, unstarted', async () => {
    const bench = await open()
    let runs = 0
    const store = interpose(bench.store, async (verb, call) => {
      const answer = await call()
      if (verb !== 'claim') return answer
      const claimed = answer as Claimed
      for (const { id } of claimed.runs) await bench.jobs.cancel(id, { reason: 'not needed' })
      return { ...claimed, runs: claimed.runs.map((run) => ({ ...run, cancelRequested: true })) }
    })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handle(work, () => void runs++)] })
    await turns() // no time passes, so no pulse
    expect(runs).toBe(0)
    expect(await bench.find(id)).toMatchObject({ state: 'cancelled', attempt: 0, error: { message: 'not needed' } })
  })
})
