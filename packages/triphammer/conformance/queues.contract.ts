import { expect, it } from 'vitest'
import type { QueueInfo } from '../src/store/admin.ts'
import { completed, request } from './builders.ts'
import { forEachStore } from './harness.ts'

forEachStore('queues', (open) => {
  it('a paused queue gives nothing, other queues go on, jobs may come', async () => {
    const { store, add, claim } = await open()
    const [a] = [await add(), await add({ queue: 'other' })]
    await store.admin.setQueue('default', { paused: {} })
    const b = await add()
    expect(await claim()).toEqual([])
    expect(await claim({ queue: 'other' })).toHaveLength(1)
    await store.admin.setQueue('default', { paused: null })
    expect((await claim()).map(({ id }) => id)).toEqual([a, b])
  })

  it('a pause leaves running jobs alone: they are extended and finished', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const [run] = await claim()
    await store.admin.setQueue('default', { paused: {} })
    expect(await store.extend([run!.lease], { leaseMs: 1_000 })).toEqual([{ state: 'paused' }])
    expect((await store.finish([completed(run!)]))[0]?.state).toBe('applied')
    expect((await find(id))?.state).toBe('completed')
  })

  it('a pause tells who, why and since when', async () => {
    const { store, clock } = await open()
    const since = clock.now()
    const paused = { by: 'ann', reason: 'deploy' }
    expect(await store.admin.setQueue('mail', { paused })).toEqual({ name: 'mail', pending: 0, running: 0, paused: { ...paused, since } })
    expect((await store.admin.queues())[0]?.paused).toEqual({ ...paused, since })
  })

  it('pausing a paused queue keeps since and takes the new words', async () => {
    const { store, clock } = await open()
    const since = clock.now()
    await store.admin.setQueue('mail', { paused: { by: 'ann', reason: 'deploy' } })
    await clock.advance('1h')
    expect((await store.admin.setQueue('mail', { paused: { by: 'bob' } })).paused).toEqual({ by: 'bob', since })
    await store.admin.setQueue('mail', { paused: null })
    await clock.advance('1h')
    expect((await store.admin.setQueue('mail', { paused: {} })).paused).toEqual({ since: clock.now() })
  })

  it('resuming twice, or what was never paused, is no error', async () => {
    const { store, add, claim } = await open()
    await add()
    for (let n = 0; n < 2; n++) expect(await store.admin.setQueue('default', { paused: null })).not.toHaveProperty('paused')
    expect(await claim()).toHaveLength(1)
  })

  it('an empty patch changes nothing', async () => {
    const { store } = await open()
    const before = await store.admin.setQueue('mail', { paused: { by: 'ann' } })
    expect(await store.admin.setQueue('mail', {})).toEqual(before)
  })

  it('a pause is seen by every handle at once', async () => {
    const { store, another, add } = await open()
    const other = await another()
    await add()
    await store.admin.setQueue('default', { paused: {} })
    const claim = request({ limit: 1 })
    expect((await other.claim(claim)).runs).toEqual([])
    await other.admin.setQueue('default', { paused: null })
    expect((await store.claim(claim)).runs).toHaveLength(1)
  })

  it('are listed with their live jobs', async () => {
    const { store, job, claim, clock } = await open()
    const t0 = clock.now()
    await store.enqueue([
      job(),
      job({ runAt: t0 - 5_000, priority: 5 }),
      job({ runAt: t0 - 3_000 }),
      job({ queue: 'mail', delayMs: 1_000 }),
      job({ queue: 'done' }),
    ])
    await claim({ limit: 1 })
    await store.finish([completed((await claim({ queue: 'done' }))[0]!)])
    await store.admin.setQueue('paused', { paused: {} })
    const listed = new Map((await store.admin.queues()).map((queue): [string, QueueInfo] => [queue.name, queue]))
    expect(listed.get('default')).toEqual({ name: 'default', pending: 2, running: 1, waitingSince: t0 - 5_000 })
    expect(listed.get('mail')).toEqual({ name: 'mail', pending: 1, running: 0 })
    await clock.advance(1_000)
    expect((await store.admin.queues()).find(({ name }) => name === 'mail')?.waitingSince).toBe(t0 + 1_000)
    expect((await store.admin.setQueue('mail', {})).waitingSince).toBe(t0 + 1_000)
    expect(listed.get('paused')).toMatchObject({ pending: 0, running: 0, paused: expect.anything() })
    expect(listed.has('done')).toBe(false)
  })
})
