import { expect, it } from 'vitest'
import { completed, failure, WORKER } from './builders.ts'
import { forEachStore } from './harness.ts'

forEachStore('a repeated enqueue', (open) => {
  it('[I9] inserts once while the job is live', async () => {
    const { store, job, claim } = await open()
    const mine = job({ repeat: true })
    expect(await store.enqueue([mine])).toEqual([{ id: mine.id, status: 'inserted' }])
    expect(await store.enqueue([mine])).toEqual([{ id: mine.id, status: 'duplicate' }])
    await claim()
    expect(await store.enqueue([mine])).toEqual([{ id: mine.id, status: 'duplicate' }])
  })

  it.each(['completed', 'dead', 'timed_out', 'failed', 'cancelled'] as const)('[I9] and after it has ended as %s', async (kind) => {
    const { store, job, claim, find } = await open()
    const mine = job({ repeat: true, payload: '"first"' })
    await store.enqueue([mine])
    const [run] = await claim()
    await store.finish([{ lease: run!.lease, kind, error: failure() }])
    const before = await find(mine.id)
    expect(await store.enqueue([{ ...mine, payload: '"second"' }])).toEqual([{ id: mine.id, status: 'duplicate' }])
    expect(await find(mine.id)).toEqual(before)
    expect(await claim()).toEqual([])
  })

  it('[I9] for as long as it is retained, no longer', async () => {
    const { store, job, claim, clock } = await open()
    const mine = job({ repeat: true, retainMs: 60_000 })
    await store.enqueue([mine])
    await store.finish([completed((await claim())[0]!)])
    await clock.advance(60_000)
    await store.maintain({ session: WORKER, limit: 10 })
    expect(await store.enqueue([mine])).toEqual([{ id: mine.id, status: 'inserted' }])
  })

  it('[I9] an unretained job is forgotten when it ends', async () => {
    const { store, job, claim, find } = await open()
    const mine = job({ repeat: true, retainMs: 0 })
    await store.enqueue([mine])
    expect(await store.enqueue([mine])).toEqual([{ id: mine.id, status: 'duplicate' }])
    await store.finish([completed((await claim())[0]!)])
    expect(await find(mine.id)).toBeUndefined()
    expect(await store.enqueue([mine])).toEqual([{ id: mine.id, status: 'inserted' }])
  })

  it('[I9] spawned jobs too', async () => {
    const { store, job, claim, find } = await open()
    const child = job({ repeat: true, queue: 'child' })
    await store.enqueue([child, job()])
    await store.finish([completed((await claim({ queue: 'child' }))[0]!)])
    const [run] = await claim()
    await store.finish([{ ...completed(run!), spawn: [child] }])
    expect((await find(child.id))?.state).toBe('completed')
  })
})
