import { expect, it } from 'vitest'
import type { OutcomeKind } from '../src/store/types.ts'
import { failure } from './builders.ts'
import { forEachStore } from './harness.ts'

forEachStore('release', (open) => {
  it('[I6] leaves the job as if it had not been claimed', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add({ runAt: clock.now() - 5_000 })
    const before = await find(id)
    const [run] = await claim()
    await clock.advance(10_000)
    await store.finish([{ lease: run!.lease, kind: 'release' }])
    expect(await find(id)).toEqual(before)
  })

  it('[I6] keeps the place: first in line again, before those that came later', async () => {
    const { store, job, claim } = await open()
    const jobs = [job(), job(), job()]
    await store.enqueue(jobs)
    const [first] = await claim({ limit: 1 })
    await store.finish([{ lease: first!.lease, kind: 'release' }])
    expect((await claim()).map(({ id }) => id)).toEqual(jobs.map(({ id }) => id))
  })

  it('[I6] refunds one attempt, not those before it, and keeps their error', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const finish = async (outcome: OutcomeKind): Promise<void> => {
      const [run] = await claim()
      await store.finish([{ lease: run!.lease, ...outcome }])
    }
    await finish({ kind: 'retry', error: failure(), delayMs: 0 })
    await finish({ kind: 'release' })
    const record = await find(id)
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: failure() })
    expect(record).not.toHaveProperty('startedAt')
    expect(await claim()).toMatchObject([{ attempt: 2 }])
  })

  it('[I6] times that come with it are no start', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const [run] = await claim()
    await store.finish([{ lease: run!.lease, kind: 'release', startedMs: 5, endedMs: 6 }])
    const record = await find(id)
    for (const absent of ['startedAt', 'endedAt']) expect(record).not.toHaveProperty(absent)
  })
})
