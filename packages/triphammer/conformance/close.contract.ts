import { expect, it } from 'vitest'
import type { Store } from '../src/store/store.ts'
import { failure, reclaimRequest, request, sessionInfo, WORKER } from './builders.ts'
import { forEachStore } from './harness.ts'

const CALLS: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
  ['enqueue', (store) => store.enqueue([])],
  ['claim', (store) => store.claim(request())],
  ['extend', (store) => store.extend([], {})],
  ['finish', (store) => store.finish([])],
  ['reclaim', (store) => store.reclaim(reclaimRequest())],
  ['beat', (store) => store.beat(sessionInfo())],
  ['maintain', (store) => store.maintain({ session: WORKER, limit: 1 })],
  ['transaction', (store) => store.transaction(async () => 1)],
  ['adopt', async (store) => store.adopt({})],
  ['schema.status', (store) => store.schema.status()],
  ['schema.migrate', (store) => store.schema.migrate()],
  ['admin.find', (store) => store.admin.find({}, { limit: 1, order: 'oldest' })],
  ['admin.count', (store) => store.admin.count({})],
  ['admin.apply', (store) => store.admin.apply({}, { kind: 'kill', error: failure() }, { limit: 1 })],
  ['admin.remove', (store) => store.admin.remove({}, { limit: 1 })],
  ['admin.queues', (store) => store.admin.queues()],
  ['admin.setQueue', (store) => store.admin.setQueue('default', { paused: {} })],
  ['admin.sessions', (store) => store.admin.sessions()],
]

forEachStore('close', (open) => {
  it.each(CALLS)('after it %s rejects', async (_, call) => {
    const { store } = await open()
    await store.close()
    await expect(call(store)).rejects.toMatchObject({ name: 'TriphammerError', code: 'STORE_CLOSED' })
  })

  it('twice is once', async () => {
    const { store } = await open()
    await store.close()
    await store.close()
    await expect(store.enqueue([])).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })
})

forEachStore('a store', (open) => {
  it('[I5] runs on the clock that was given', async () => {
    const { store, add, find, clock } = await open()
    expect(store.info).toMatchObject({ name: expect.any(String), clock: 'injected' })
    expect(store.info.connections).toBeGreaterThanOrEqual(1)
    clock.setWallClock(Date.UTC(2040, 5, 1))
    expect((await find(await add()))?.createdAt).toBe(Date.UTC(2040, 5, 1))
  })

  it('has nothing left to migrate once it was migrated', async () => {
    const { store } = await open()
    expect(await store.schema.migrate()).toEqual([])
    expect(await store.schema.status()).toMatchObject({ pending: [], unknown: [] })
  })
})
