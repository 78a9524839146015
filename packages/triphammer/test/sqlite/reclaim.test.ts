import { expect, it } from 'vitest'
import { newJob, request } from '../../conformance/builders.ts'
import { manualClock } from '../../src/core/manual-clock.ts'
import type { Run } from '../../src/store/types.ts'
import { freshFile, ids, storeOn, userDb } from './place.ts'

const RECLAIM = { session: 'reclaimer', limit: 10, leaseMs: 60_000 }

// A run whose lease of a minute has run out while another connection held the lock.
async function lockedForLong() {
  const file = freshFile()
  const clock = manualClock()
  const [owner, other] = [storeOn(file, { clock }), storeOn(file, { clock })]
  await owner.enqueue([newJob(ids)])
  const [run] = (await owner.claim(request())).runs
  await other.admin.count({})
  const holder = userDb(file)
  holder.exec('begin immediate')
  await clock.advance('61s')
  // A reclaim that begins now and waits for the lock.
  const reclaimAfter = async (waitMs: number): Promise<readonly Run[]> => {
    if (!holderHasLock) holder.exec('begin immediate')
    const reclaiming = other.reclaim(RECLAIM)
    reclaiming.catch(() => {})
    await clock.advance(waitMs)
    holder.exec('commit')
    holderHasLock = false
    await clock.advance('5ms')
    return reclaiming
  }
  let holderHasLock = true
  return { clock, owner, other, holder, lease: run!.lease, reclaimAfter }
}

it('a reclaim that had to wait long for the lock takes nothing: whoever lives extends', async () => {
  const { clock, owner, other, lease, reclaimAfter } = await lockedForLong()
  expect(await reclaimAfter(2_000)).toEqual([])
  expect(await other.reclaim(RECLAIM)).toEqual([])
  await clock.advance('20s')
  expect(await other.reclaim(RECLAIM)).toEqual([])
  expect(await owner.extend([lease], { leaseMs: 60_000 })).toEqual([{ state: 'held' }])
  await clock.advance('11s')
  expect(await other.reclaim(RECLAIM)).toEqual([])
})

it('nor does one that follows a reclaim which waited in vain', async () => {
  const { clock, other, reclaimAfter } = await lockedForLong()
  await expect(reclaimAfter(6_000)).rejects.toMatchObject({ code: 'STORE_BUSY' })
  expect(await other.reclaim(RECLAIM)).toEqual([])
  await clock.advance('31s')
  expect(await other.reclaim(RECLAIM)).toHaveLength(1)
})

it('after half a lease it takes what nobody has extended', async () => {
  const { clock, other, reclaimAfter } = await lockedForLong()
  expect(await reclaimAfter(2_000)).toEqual([])
  await clock.advance('31s')
  expect(await other.reclaim(RECLAIM)).toHaveLength(1)
})

it('a short wait does not count', async () => {
  const { reclaimAfter } = await lockedForLong()
  expect(await reclaimAfter(500)).toHaveLength(1)
})

it('a database that is locked again and again keeps the jobs of the dead for eight reclaims', async () => {
  const { clock, reclaimAfter } = await lockedForLong()
  for (let refused = 0; refused < 8; refused++) {
    expect(await reclaimAfter(2_000)).toEqual([])
    await clock.advance('31s')
  }
  expect(await reclaimAfter(2_000)).toHaveLength(1)
})

it('one that was locked all the time is doubted anew', async () => {
  const { clock, other, reclaimAfter } = await lockedForLong()
  for (let refused = 0; refused < 7; refused++) {
    await reclaimAfter(2_000)
    await clock.advance('31s')
  }
  await expect(reclaimAfter(6_000)).rejects.toMatchObject({ code: 'STORE_BUSY' })
  for (let refused = 0; refused < 2; refused++) expect(await other.reclaim(RECLAIM)).toEqual([])
})

it('a store that has not reclaimed yet notices a shorter wait: it cannot know how long leases are', async () => {
  const { clock, other, owner, holder, lease } = await lockedForLong()
  const writing = other.enqueue([newJob(ids)])
  await clock.advance(150)
  holder.exec('commit')
  await clock.advance('5ms')
  await writing
  expect(await other.reclaim({ ...RECLAIM, leaseMs: 1_000 })).toEqual([])
  expect(await owner.extend([lease], { leaseMs: 60_000 })).toEqual([{ state: 'held' }])
})

it('another write of the same store that had to wait long counts as well', async () => {
  const { clock, other, owner, holder, lease } = await lockedForLong()
  const writing = other.enqueue([newJob(ids)])
  await clock.advance('2s')
  holder.exec('commit')
  await clock.advance('5ms')
  await writing
  expect(await other.reclaim(RECLAIM)).toEqual([])
  expect(await owner.extend([lease], { leaseMs: 60_000 })).toEqual([{ state: 'held' }])
})
