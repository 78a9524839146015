import { describe, expect, it } from 'vitest'
import { newJob, request } from '../../conformance/builders.ts'
import { type ManualClock, manualClock } from '../../src/core/manual-clock.ts'
import type { Store } from '../../src/store/store.ts'
import { freshFile, ids, storeOn, type UserDb, userDb } from './place.ts'

interface Contested {
  readonly store: Store
  readonly clock: ManualClock
  /** Another connection, which the store knows nothing of. */
  readonly holder: UserDb
}

async function contest(): Promise<Contested> {
  const file = freshFile()
  const clock = manualClock()
  const store = storeOn(file, { clock })
  await store.enqueue([newJob(ids)])
  return { store, clock, holder: userDb(file) }
}

/** How a promise stands, now. */
async function stateOf(promise: Promise<unknown>): Promise<'open' | 'fulfilled' | 'rejected'> {
  const open = Symbol('open')
  const first = await Promise.race([promise, Promise.resolve(open)]).catch(() => 'rejected' as const)
  if (first === open) return 'open'
  return first === 'rejected' ? 'rejected' : 'fulfilled'
}

describe('a locked database', () => {
  it('a write waits, with the event loop free, and goes through soon after the lock is gone', async () => {
    const { store, clock, holder } = await contest()
    holder.exec('begin immediate')
    const writing = store.enqueue([newJob(ids)])
    await clock.advance('4s')
    expect(await stateOf(writing)).toBe('open')
    holder.exec('commit')
    await clock.advance('5ms')
    expect(await writing).toMatchObject([{ status: 'inserted' }])
  })

  it('STORE_BUSY after 5 s, with nothing written, and the store can be used again', async () => {
    const { store, clock, holder } = await contest()
    holder.exec('begin immediate')
    const writing = store.claim(request())
    const refused = expect(writing).rejects.toMatchObject({ code: 'STORE_BUSY', cause: expect.anything() })
    await clock.advance('4900ms')
    expect(await stateOf(writing)).toBe('open')
    await clock.advance('200ms')
    await refused
    holder.exec('commit')
    expect((await store.claim(request())).runs).toHaveLength(1)
  })

  it('reads do not wait for it, nor does a claim that finds nothing, nor a look at leases', async () => {
    const { store, clock, holder } = await contest()
    const { runs } = await store.claim(request())
    holder.exec('begin immediate')
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 1 }])
    expect((await store.claim(request())).runs).toEqual([])
    expect(await store.extend([runs[0]!.lease], {})).toEqual([{ state: 'held' }])
    expect(await store.reclaim({ session: 's', limit: 1, leaseMs: 1_000 })).toEqual([])
    expect(await store.maintain({ session: 's', limit: 1 })).toEqual({ removed: 0, more: false })
    holder.exec('commit')
    expect(clock.monotonic()).toBe(0)
  })

  it('a transaction waits for it as well', async () => {
    const { store, clock, holder } = await contest()
    holder.exec('begin immediate')
    const calls: string[] = []
    const running = store.transaction(async () => void calls.push('ran'))
    await clock.advance('1s')
    expect(calls).toEqual([])
    holder.exec('commit')
    await clock.advance('5ms')
    await running
    expect(calls).toEqual(['ran'])
  })

  it('a store of this process that waits for a transaction of another one is told of its end', async () => {
    const file = freshFile()
    const clock = manualClock()
    const [first, second] = [storeOn(file, { clock }), storeOn(file, { clock })]
    await second.admin.count({})
    let writing: Promise<unknown> = Promise.resolve()
    await first.transaction(async () => {
      writing = second.enqueue([newJob(ids)])
      expect(await stateOf(writing)).toBe('open')
    })
    await writing // no clock has moved
    expect(await first.admin.count({})).toEqual([{ key: 'all', count: 1 }])
  })

  it('closing while a call waits ends the wait', async () => {
    const { store, clock, holder } = await contest()
    holder.exec('begin immediate')
    const refused = expect(store.enqueue([newJob(ids)])).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await store.close()
    await clock.advance('5ms')
    await refused
    holder.exec('commit')
  })
})
