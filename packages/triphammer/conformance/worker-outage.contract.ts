import { expect, it } from 'vitest'
import { sleep } from '../src/core/clock.ts'
import { TriphammerError } from '../src/core/errors.ts'
import type { JobId, Outcome } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { createPermits, eavesdrop, forEachBench, interpose, turns, work } from './worker.ts'

const unavailable = (): Promise<never> => Promise.reject(new TriphammerError('STORE_UNAVAILABLE', 'the store is away'))

forEachBench('a store that is away', (open) => {
  it('[I8] for 30 s: the worker goes on trying, says so once, and every job is run once', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const runs = new Map<JobId, number>()
    let away = false
    let calls = 0
    const store = interpose(bench.store, (_, call) => {
      calls++
      return away ? unavailable() : call()
    })
    await bench.jobs.enqueueMany(work, Array.from({ length: 40 }))
    await bench.started({
      store,
      handlers: [
        handle(work, async ({ job }) => {
          runs.set(job.id, (runs.get(job.id) ?? 0) + 1)
          await sleep(bench.clock, 500)
        }),
      ],
      queues: { default: { concurrency: 4, prefetch: 12 } },
      plugins: [plugin],
    })
    await bench.until(() => runs.size === 8)
    away = true
    calls = 0
    await bench.clock.advance('30s')
    await turns()
    expect(calls).toBeGreaterThan(10)
    expect(calls).toBeLessThan(200) // five loops, each with its own backoff up to 5 s
    away = false
    await bench.until(async () => (await bench.states())['completed'] === 40)
    expect([...runs.values()]).toEqual(Array.from({ length: 40 }, () => 1))
    expect(types().filter((type) => type.startsWith('store.'))).toEqual(['store.unavailable', 'store.available'])
    expect(bench.logged.map(({ level }) => level)).toEqual(['error', 'warn'])
    for (const { attempt } of (await bench.jobs.list({}, { limit: 40 })).jobs) expect(attempt).toBe(1)
  })

  it('for all who write, while it can be read: the worker says so once, although its pulse is answered', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const permits = createPermits()
    let isReadOnly = false
    let beats = 0
    const writes = (verb: string, request: unknown): boolean =>
      verb === 'finish' || (verb === 'claim' && (request as { finish: readonly Outcome[] }).finish.length > 0)
    const store = interpose(bench.store, (verb, call, [request]) => {
      if (verb === 'beat') beats++
      return isReadOnly && writes(verb, request) ? unavailable() : call()
    })
    await bench.jobs.enqueueMany(work, Array.from({ length: 4 }))
    await bench.started({ store, handlers: [handle(work, () => permits.take())], queues: { default: 4 }, plugins: [plugin] })
    await bench.until(() => permits.waiting === 4)
    isReadOnly = true
    permits.add(4)
    await bench.until(() => types().includes('store.unavailable'), 10_000)
    beats = 0
    await bench.clock.advance('20s')
    expect(beats).toBeGreaterThan(10)
    expect(types().filter((type) => type.startsWith('store.'))).toEqual(['store.unavailable'])
    isReadOnly = false
    await bench.until(async () => (await bench.states())['completed'] === 4, 10_000)
    expect(types().filter((type) => type.startsWith('store.'))).toEqual(['store.unavailable', 'store.available'])
  })

  it('[I3] for longer than a short lease: that is extended within a sixth of one, before anybody may reclaim', async () => {
    const bench = await open()
    const permits = createPermits()
    let away = false
    const store = interpose(bench.store, (_, call) => (away ? unavailable() : call()))
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handle(work, () => permits.take())], lease: '3s' })
    await bench.until(() => permits.waiting === 1)
    away = true
    await bench.clock.advance('30s')
    const leaseUntil = async (): Promise<number> => (await bench.find(id))!.leaseUntil!
    expect(await leaseUntil()).toBeLessThan(bench.clock.now())
    away = false
    await bench.clock.advance('500ms')
    await bench.until(async () => (await leaseUntil()) > bench.clock.now(), 0)
    permits.add(1)
    await bench.until(async () => (await bench.states())['completed'] === 1)
    expect(await bench.find(id)).toMatchObject({ attempt: 1 })
  })

  it('when the worker starts: it starts all the same, and works when the store is back', async () => {
    const bench = await open()
    let away = true
    const store = interpose(bench.store, (_, call) => (away ? unavailable() : call()))
    await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handle(work, () => {})] })
    await bench.clock.advance('10s')
    expect(await bench.states()).toEqual({ pending: 1 })
    away = false
    await bench.until(async () => (await bench.states())['completed'] === 1, 10_000)
  })

  it('when the worker stops: it does not wait for ever, and its jobs are reclaimed', async () => {
    const bench = await open()
    let away = false
    let runs = 0
    const permits = createPermits()
    const store = interpose(bench.store, (_, call) => (away ? unavailable() : call()))
    const { id } = await bench.jobs.enqueue(work, {})
    const handler = handle(work, async () => {
      runs++
      if (runs === 1) await permits.take()
    })
    const worker = await bench.started({ store, handlers: [handler] })
    await bench.until(() => permits.waiting === 1)
    away = true
    permits.add(1)
    await turns()
    await bench.settled(worker.stop(), 6_000)
    expect(await bench.find(id)).toMatchObject({ state: 'running', attempt: 1 })
    await bench.store.beat({ ...(await bench.store.admin.sessions())[0]!, leaving: true })
    await bench.clock.advance('61s')
    await bench.started({ handlers: [handler] })
    await bench.until(async () => (await bench.find(id))?.state === 'completed', 20_000)
    expect(await bench.find(id)).toMatchObject({ attempt: 2 })
  })

  it('[I1] [I8] a finish whose reply is lost is not written twice, nor is the job run again', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    let runs = 0
    let lose = 0
    const store = interpose(bench.store, async (verb, call, [request]) => {
      const answer = await call()
      const finishes = verb === 'finish' || (verb === 'claim' && (request as { finish?: readonly Outcome[] }).finish?.length)
      if (finishes && lose-- > 0) return unavailable()
      return answer
    })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handle(work, () => void runs++)], plugins: [plugin] })
    lose = 1
    await bench.until(() => types().includes('job.lost'), 10_000)
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
    await bench.clock.advance('2m')
    await turns()
    expect(runs).toBe(1)
    expect(await bench.states()).toEqual({ completed: 1 })
  })

  it('[I6] a claim whose reply is lost is reclaimed when its lease has run out', async () => {
    const bench = await open()
    let lose = 1
    const attempts: number[] = []
    const store = interpose(bench.store, async (verb, call) => {
      const answer = await call()
      if (verb === 'claim' && (answer as { runs: readonly unknown[] }).runs.length > 0 && lose-- > 0) return unavailable()
      return answer
    })
    await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handle(work, ({ attempt }) => void attempts.push(attempt))] })
    await bench.until(() => attempts.length === 1, 90_000)
    expect(attempts).toEqual([2])
    await bench.until(async () => (await bench.states())['completed'] === 1)
  })
})

forEachBench('a store that refuses', (open) => {
  it('one outcome for a reason of its own: the others are written, and that job is reclaimed', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    let bad: JobId | undefined
    const store = interpose(bench.store, (verb, call, [request]) => {
      const finish = (verb === 'finish' ? request : verb === 'claim' ? (request as { finish?: unknown }).finish : undefined) as
        | readonly Outcome[]
        | undefined
      return finish?.some(({ lease }) => lease.id === bad) ? Promise.reject(new RangeError('a column is too short')) : call()
    })
    const ids = (await bench.jobs.enqueueMany(work, Array.from({ length: 20 }))).map(({ id }) => id)
    bad = ids[7]
    await bench.started({ store, handlers: [handle(work, () => {})], queues: { default: 20 }, plugins: [plugin] })
    await bench.until(async () => (await bench.states())['completed'] === 19, 10_000)
    await bench.jobs.enqueue(work, 'later')
    await bench.until(async () => (await bench.states())['completed'] === 20, 10_000)
    expect(types().filter((type) => type.startsWith('store.'))).toEqual([])
    await bench.until(() => bench.logged.some(({ message }) => message.includes('refuses an outcome')), 10_000)
    expect(bench.logged.filter(({ message }) => message.includes('refuses an outcome'))).toMatchObject([
      { level: 'error', fields: { job: bad } },
    ])
    bad = undefined
    await bench.until(async () => (await bench.states())['completed'] === 21, 90_000)
    expect(await bench.find(ids[7]!)).toMatchObject({ attempt: 2 })
  })

  it('to be used at all: run() and start() end with that error', async () => {
    const bench = await open()
    let broken = false
    const store = interpose(bench.store, (_, call) =>
      broken ? Promise.reject(new TriphammerError('SCHEMA_TOO_NEW', 'update the library')) : call(),
    )
    const worker = bench.worker({ store, handlers: [handle(work, () => {})] })
    const running = worker.run({ signals: false })
    const ended = expect(running).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
    await bench.clock.advance('1s')
    broken = true
    await bench.clock.advance('10s')
    await ended
    await expect(worker.start()).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
    await expect(worker.runOnce()).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
    bench.vanishes()
    expect(bench.logged.filter(({ message }) => message.includes('the worker stops'))).toHaveLength(1)
  })
})
