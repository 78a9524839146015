import { expect, it } from 'vitest'
import { sleep } from '../src/core/clock.ts'
import { isTriphammerError } from '../src/core/errors.ts'
import { discard, retryAfter, snooze } from '../src/core/outcome.ts'
import type { WakeupsFacet } from '../src/store/facets.ts'
import type { JobId } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, eavesdrop, forEachBench, interpose, type Permits, turns, type Verb, work } from './worker.ts'

// A store one of whose verbs waits for a permit each time, while `on`.
function heldAt(bench: Bench, verb: Verb): { readonly store: Bench['store']; readonly permits: Permits; on: boolean } {
  const permits = createPermits()
  const held = {
    permits,
    on: false,
    store: interpose(bench.store, async (called, call) => {
      if (held.on && called === verb) await permits.take()
      return call()
    }),
  }
  return held
}

forEachBench('starting and stopping', (open) => {
  it('a worker that runs cannot be started again, and one that does not has nothing to stop', async () => {
    const bench = await open()
    const worker = bench.worker({ handlers: [handle(work, () => {})] })
    await worker.stop()
    await worker.start()
    const again = [worker.start(), worker.run({ signals: false }), worker.runOnce()]
    for (const result of await Promise.allSettled(again)) {
      expect(result.status === 'rejected' && isTriphammerError(result.reason, 'WORKER_STATE')).toBe(true)
    }
    await worker.stop()
    await worker.stop()
    await worker.idle()
  })

  it('a worker that has stopped can be started again', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const seen: unknown[] = []
    const worker = bench.worker({ handlers: [handle(work, ({ payload }) => void seen.push(payload))], plugins: [plugin] })
    for (const n of [1, 2]) {
      await bench.jobs.enqueue(work, n)
      await worker.start()
      await bench.settled(worker.idle())
      expect(worker.stats()).toMatchObject({ held: 0, running: 0, started: 1 })
      await worker.stop()
      await bench.jobs.enqueue(work, 'while it stands still', { delay: '1h' })
    }
    expect(seen).toEqual([1, 2])
    expect(types().filter((type) => type.startsWith('worker'))).toEqual([
      'worker.started',
      'worker.stopped',
      'worker.started',
      'worker.stopped',
    ])
  })

  it('a worker that has stopped does not listen any more', async () => {
    const bench = await open()
    const { wakeups } = bench.store.facets
    let listening = 0
    const counted: WakeupsFacet = {
      subscribe(queues, wake) {
        listening++
        const leave = wakeups?.subscribe(queues, wake)
        return () => {
          listening--
          leave?.()
        }
      },
    }
    const store = { ...interpose(bench.store, (_, call) => call()), facets: { ...bench.store.facets, wakeups: counted } }
    const worker = bench.worker({ store, handlers: [handle(work, () => {})] })
    await worker.start()
    expect(listening).toBe(1)
    await worker.stop()
    expect(listening).toBe(0)
    const starting = worker.start()
    await Promise.all([worker.stop(), starting])
    expect(listening).toBe(0)
  })

  it('stopped while it starts: it ends, takes nothing and leaves nothing', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const held = heldAt(bench, 'beat')
    held.on = true
    let runs = 0
    await bench.jobs.enqueue(work, {})
    const worker = bench.worker({ store: held.store, handlers: [handle(work, () => void runs++)], plugins: [plugin] })
    const starting = worker.start()
    const stopping = worker.stop()
    await turns()
    expect(held.permits.waiting).toBe(1) // the first pulse, and not yet the last
    held.on = false
    held.permits.add(1)
    await bench.settled(Promise.all([starting, stopping]))
    await bench.jobs.enqueue(work, {})
    await bench.clock.advance('1m')
    await turns()
    expect(runs).toBe(0)
    expect(await bench.store.admin.sessions()).toEqual([])
    expect(types()).toEqual(['worker.started', 'worker.stopped'])
  })

  it('stopped while idle: at once', async () => {
    const bench = await open()
    const worker = await bench.started({ handlers: [handle(work, () => {})] })
    await bench.clock.advance('1m')
    const from = bench.clock.monotonic()
    await worker.stop() // no time passes
    expect(bench.clock.monotonic()).toBe(from)
  })

  it('[I6] [I8] stopped while a claim is under way: what it brings goes back unstarted', async () => {
    const bench = await open()
    const held = heldAt(bench, 'claim')
    let runs = 0
    held.on = true
    const worker = await bench.started({ store: held.store, handlers: [handle(work, () => void runs++)] })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.until(() => held.permits.waiting === 1)
    const stopping = worker.stop()
    held.permits.add(1)
    await bench.settled(stopping)
    expect(runs).toBe(0)
    const record = await bench.find(id)
    expect(record).toMatchObject({ state: 'pending', attempt: 0 })
    expect(record).not.toHaveProperty('startedAt')
  })

  it('[I6] [I8] stopped while jobs are held: they go back at once, and another worker runs them', async () => {
    const bench = await open()
    const permits = createPermits()
    const starts: JobId[] = []
    const handler = handle(work, async ({ job }) => {
      starts.push(job.id)
      await permits.take()
    })
    const ids = (await bench.jobs.enqueueMany(work, Array.from({ length: 4 }))).map(({ id }) => id)
    const worker = await bench.started({ handlers: [handler], queues: { default: { concurrency: 1, prefetch: 4 } } })
    await bench.until(() => worker.stats().held === 3 && permits.waiting === 1)
    const stopping = worker.stop()
    await turns() // no time passes, and the first still runs
    expect(await bench.states()).toEqual({ running: 1, pending: 3 })
    for (const id of ids.slice(1)) {
      const record = await bench.find(id)
      expect(record).toMatchObject({ attempt: 0 })
      expect(record).not.toHaveProperty('startedAt')
    }
    const next = await bench.started({ store: await bench.another(), handlers: [handler], queues: { default: 4 } })
    permits.add(4)
    await bench.settled(stopping)
    await bench.settled(next.idle())
    expect([...starts].sort()).toEqual([...ids].sort())
    for (const id of ids) expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
  })

  it('[I8] stopped while an outcome is under way: it is written once', async () => {
    const bench = await open()
    const held = heldAt(bench, 'finish')
    const claims = heldAt({ ...bench, store: held.store }, 'claim')
    const { plugin, types } = eavesdrop()
    const permits = createPermits()
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = await bench.started({ store: claims.store, handlers: [handle(work, () => permits.take())], plugins: [plugin] })
    await bench.until(() => permits.waiting === 1)
    held.on = true
    claims.on = true
    permits.add(1)
    await bench.until(() => held.permits.waiting + claims.permits.waiting > 0)
    const stopping = worker.stop()
    await turns()
    expect(await bench.find(id)).toMatchObject({ state: 'running' })
    held.on = false
    claims.on = false
    held.permits.add(5)
    claims.permits.add(5)
    await bench.settled(stopping)
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.started', 'job.completed'])
  })

  it('[I8] stopped while a handler runs: it has its grace, and its outcome counts', async () => {
    const bench = await open()
    const permits = createPermits()
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = await bench.started({
      handlers: [
        handle(work, async ({ signal }) => {
          await permits.take()
          expect(signal.aborted).toBe(false)
        }),
      ],
    })
    await bench.until(() => permits.waiting === 1)
    const stopping = worker.stop({ grace: '20s' })
    await bench.clock.advance('19s')
    permits.add(1)
    await bench.settled(stopping, 100)
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
  })

  it('[I6] [I8] after the grace signals abort, and what still runs is given back with its attempt', async () => {
    const bench = await open()
    const ids = (await bench.jobs.enqueueMany(work, ['obeys', 'finishes', 'ignores'])).map(({ id }) => id)
    const reasons: unknown[] = []
    const worker = await bench.started({
      handlers: [
        handle(work, async ({ payload, signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          reasons.push(signal.reason.code)
          if (payload === 'obeys') throw signal.reason
          if (payload === 'ignores') await new Promise(() => {})
        }),
      ],
      grace: '5s',
    })
    await bench.until(() => worker.stats().running === 3)
    const stopping = worker.stop()
    await bench.clock.advance(4_900)
    await turns()
    expect(reasons).toEqual([])
    await bench.settled(stopping, 2_000)
    expect(reasons).toEqual(['SHUTDOWN', 'SHUTDOWN', 'SHUTDOWN'])
    const [obeys, finishes, ignores] = await Promise.all(ids.map((id) => bench.find(id)))
    expect(finishes).toMatchObject({ state: 'completed', attempt: 1 })
    for (const back of [obeys, ignores]) {
      expect(back).toMatchObject({ state: 'pending', attempt: 0 })
      expect(back).not.toHaveProperty('startedAt')
    }
  })

  it('[I8] once told, a handler has a second to end by itself: its outcome counts, and no longer', async () => {
    const bench = await open()
    const [quick, slow] = (await bench.jobs.enqueueMany(work, [900, 1_100])).map(({ id }) => id)
    const worker = await bench.started({
      handlers: [
        handle(work, async ({ payload, signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          await sleep(bench.clock, payload as number)
        }),
      ],
    })
    await bench.until(() => worker.stats().running === 2)
    await bench.settled(worker.stop({ grace: 0 }), 1_050)
    expect(await bench.find(quick!)).toMatchObject({ state: 'completed', attempt: 1 })
    expect(await bench.find(slow!)).toMatchObject({ state: 'pending', attempt: 0 })
    await bench.clock.advance('1s') // what it returns then is heard by nobody
    expect(await bench.find(slow!)).toMatchObject({ state: 'pending', attempt: 0 })
  })

  it('what a handler decides when it is told stands: discard, snooze, retryAfter', async () => {
    const bench = await open()
    const ends = { discard: () => discard('useless'), snooze: () => snooze('5m'), retryAfter: () => retryAfter('1m') }
    const [discarded, snoozed, later] = (await bench.jobs.enqueueMany(work, Object.keys(ends))).map(({ id }) => id)
    const worker = await bench.started({
      handlers: [
        handle(work, async ({ payload, signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          throw ends[payload as keyof typeof ends]()
        }),
      ],
    })
    await bench.until(() => worker.stats().running === 3)
    const from = bench.clock.now()
    await bench.settled(worker.stop({ grace: 0 }), 1_000)
    expect(await bench.find(discarded!)).toMatchObject({ state: 'dead', attempt: 1, error: { message: 'useless' } })
    expect(await bench.find(snoozed!)).toMatchObject({ state: 'pending', attempt: 0, runAt: from + 300_000 })
    expect(await bench.find(later!)).toMatchObject({ state: 'pending', attempt: 1, runAt: from + 60_000 })
  })

  it('a second stop hurries the first', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = await bench.started({ handlers: [handle(work, () => new Promise(() => {}))] })
    await bench.until(() => worker.stats().running === 1)
    const stopping = worker.stop({ grace: '1h' })
    await turns()
    expect(await bench.find(id)).toMatchObject({ state: 'running' })
    const from = bench.clock.monotonic()
    await Promise.all([worker.stop(), stopping]) // no time passes
    expect(bench.clock.monotonic()).toBe(from)
    expect(await bench.find(id)).toMatchObject({ state: 'pending', attempt: 0 })
  })

  it('await using stops it', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    {
      await using worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [plugin] })
      expect(worker.stats()).toMatchObject({ running: 0 })
    }
    expect(types()).toEqual(['worker.started', 'worker.stopped'])
  })

  it('stop refuses an option that it does not know, and a grace that is none', async () => {
    const bench = await open()
    const worker = await bench.started({ handlers: [handle(work, () => {})] })
    await expect(worker.stop({ grace: -1 })).rejects.toMatchObject({ code: 'INVALID_DURATION' })
    await expect(worker.stop({ grcae: 1 } as object)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
    await expect(worker.run({ signal: false } as object)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
  })
})
