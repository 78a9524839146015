import { describe, expect, it } from 'vitest'
import { newJob, request } from '../../conformance/builders.ts'
import { createIds } from '../../src/core/ids.ts'
import { manualClock } from '../../src/core/manual-clock.ts'
import { memory } from '../../src/memory.ts'

const open = () => {
  const clock = manualClock()
  const ids = createIds(clock)
  return { clock, ids, store: memory({ clock, ids }) }
}

describe('snapshot', () => {
  it('shows what is committed, and nothing that is not, without waiting', async () => {
    const { store, ids } = open()
    const first = newJob(ids)
    const second = newJob(ids, { task: 'other' })
    void store.enqueue([first])
    expect(store.snapshot().map(({ id }) => id)).toEqual([first.id])
    await store.transaction(async (tx) => {
      await store.enqueue([second], tx)
      expect(store.snapshot()).toHaveLength(1)
    })
    expect(store.snapshot().map(({ id, state }) => [id, state])).toEqual([
      [first.id, 'pending'],
      [second.id, 'pending'],
    ])
    expect(store.snapshot({ tasks: ['other'] }).map(({ id }) => id)).toEqual([second.id])
  })

  it('is refused by a closed store', async () => {
    const { store } = open()
    await store.close()
    expect(() => store.snapshot()).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
  })
})

describe('enqueueClaimed', () => {
  it('gives a run that nobody else can have, also in a paused queue, and that ends like any other', async () => {
    const { store, ids, clock } = open()
    await store.admin.setQueue('default', { paused: {} })
    const job = newJob(ids)
    const run = store.enqueueClaimed(job, { session: ids.next(), leaseMs: 60_000, attempt: 3 })
    expect(run).toMatchObject({ id: job.id, task: job.task, queue: job.queue, attempt: 3, claimedAt: clock.now(), runAt: clock.now() })
    await store.admin.setQueue('default', { paused: null })
    expect((await store.claim(request())).runs).toEqual([])
    expect(await store.extend([run.lease], {})).toEqual([{ state: 'held' }])

    const [result] = await store.finish([{ lease: run.lease, kind: 'retry', error: { name: 'Error', message: 'no' }, delayMs: 5 }])
    expect(result?.state).toBe('applied')
    await clock.advance(5)
    const [again] = (await store.claim(request())).runs
    expect(again).toMatchObject({ id: job.id, attempt: 4 })
    expect(again?.lease.token).not.toBe(run.lease.token)
  })

  it('is leased like any other run: when the lease ends it is reclaimed', async () => {
    const { store, ids, clock } = open()
    const run = store.enqueueClaimed(newJob(ids), { session: ids.next(), leaseMs: 60_000, attempt: 1 })
    await clock.advance(60_000)
    const reclaimed = await store.reclaim({ session: ids.next(), limit: 10, leaseMs: 60_000 })
    expect(reclaimed.map(({ id, attempt }) => [id, attempt])).toEqual([[run.id, 1]])
  })
})
