import { expect, it } from 'vitest'
import { TriphammerError } from '../src/core/errors.ts'
import type { Outcome } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { createPermits, forEachBench, interpose, turns, work } from './worker.ts'

forEachBench('a worker that was suspended', (open) => {
  it('[I3] starts nothing on a claim whose answer it reads when the lease has run out and the job is another’s', async () => {
    const bench = await open()
    const permits = createPermits()
    let hangs = true
    const store = interpose(bench.store, async (verb, call) => {
      const answer = await call()
      if (hangs && verb === 'claim') await permits.take()
      return answer
    })
    const attempts: number[] = []
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handle(work, ({ attempt }) => void attempts.push(attempt))] })
    await bench.until(() => permits.waiting === 1)
    hangs = false
    await bench.until(async () => (await bench.states())['pending'] === 1, 80_000) // its own pass has reclaimed the job
    const [second] = await bench.claim({ limit: 1 })
    expect(second).toMatchObject({ id, attempt: 2 })
    permits.add(1)
    await turns()
    await bench.clock.advance('1s')
    expect(attempts).toEqual([])
    expect(await bench.store.finish([{ lease: second!.lease, kind: 'completed' }])).toMatchObject([{ state: 'applied' }])
  })

  it('[I3] extends a lease that has run out before it starts the job, if nobody has taken it', async () => {
    const bench = await open()
    const permits = createPermits()
    let hangs = false
    const store = interpose(bench.store, async (verb, call) => {
      const answer = await call()
      if (verb === 'claim') hangs ||= (await bench.jobs.count({ state: 'running' })) === 1
      if (hangs) await permits.take()
      return answer
    })
    const leftMs: number[] = []
    const { id } = await bench.jobs.enqueue(work, {})
    const handler = handle(work, async ({ attempt }) => {
      expect(attempt).toBe(1)
      leftMs.push((await bench.find(id))!.leaseUntil! - bench.clock.now())
    })
    await bench.started({ store, handlers: [handler], pulse: '1h', lease: '10m' })
    await bench.until(() => permits.waiting === 1)
    await bench.clock.advance('11m')
    hangs = false
    permits.add(permits.waiting)
    await bench.until(() => leftMs.length === 1)
    expect(leftMs[0]).toBeGreaterThan(0)
    await bench.until(async () => (await bench.find(id))?.state === 'completed')
  })
})

forEachBench('reclaim after an outage', (open) => {
  const unavailable = (): Promise<never> => Promise.reject(new TriphammerError('STORE_UNAVAILABLE', 'the store is away'))

  it('[I3] takes nothing from a live worker that is told of the store’s return a little later', async () => {
    const bench = await open()
    const away = { first: false, second: false }
    const permits = createPermits()
    const attempts: number[] = []
    const handler = handle(work, async ({ attempt }) => {
      attempts.push(attempt)
      await permits.take()
    })
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ store: interpose(bench.store, (_, call) => (away.first ? unavailable() : call())), handlers: [handler] })
    await bench.until(() => attempts.length === 1)
    const other = await bench.another()
    await bench.started({ store: interpose(other, (_, call) => (away.second ? unavailable() : call())), handlers: [handler] })
    away.first = true
    away.second = true
    await bench.clock.advance('90s')
    away.second = false
    await bench.clock.advance('10s')
    away.first = false
    await bench.clock.advance('60s')
    expect(attempts).toEqual([1])
    permits.add(1)
    await bench.until(async () => (await bench.find(id))?.state === 'completed')
    expect(await bench.find(id)).toMatchObject({ attempt: 1 })
  })

  it('a store that fails now and then does not keep the jobs of a crashed worker', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.claim({ limit: 1 })
    let beats = 0
    let isFailing = true
    const store = interpose(bench.store, (verb, call) => (verb === 'beat' && isFailing && ++beats % 10 === 0 ? unavailable() : call()))
    await bench.started({ store, handlers: [handle(work, () => {})] })
    await bench.until(async () => (await bench.find(id))?.state === 'completed', 180_000)
    isFailing = false // the last beat, with which the worker signs off, might be a tenth
    expect(await bench.find(id)).toMatchObject({ attempt: 2 })
  })

  it('[I7] a job whose end the store refuses does not keep the others', async () => {
    const bench = await open()
    const ids = (await bench.jobs.enqueueMany(work, Array.from({ length: 3 }))).map(({ id }) => id)
    await bench.claim({ limit: 3 })
    await bench.clock.advance('61s')
    const refused = new TriphammerError('STORE_REFUSED', 'not this one')
    const store = interpose(bench.store, (verb, call, [outcomes]) => {
      const isBad = verb === 'finish' && (outcomes as readonly Outcome[]).some(({ lease }) => lease.id === ids[1])
      return isBad ? Promise.reject(refused) : call()
    })
    await bench.started({ store, handlers: [handle(work, () => {})] })
    await bench.until(async () => (await bench.states())['completed'] === 2, 20_000)
    expect(await bench.find(ids[1]!)).toMatchObject({ state: 'running', attempt: 1 })
    expect(bench.logged).toContainEqual({ level: 'error', message: expect.any(String), fields: { job: ids[1], error: refused } })
    await bench.jobs.kill(ids[1]!)
  })
})
