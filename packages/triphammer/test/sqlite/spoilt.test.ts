import { expect, it } from 'vitest'
import { newJob, reclaimRequest, request } from '../../conformance/builders.ts'
import { fixed } from '../../src/core/retry.ts'
import { freshFile, ids, storeOn, userDb } from './place.ts'

// Payloads that cannot be read are the contracts' affair; these columns are the store's own.
it('[I7] a row whose own columns somebody spoilt hides no other: claimed, reclaimed and listed', async () => {
  const file = freshFile()
  const store = storeOn(file)
  const spoilt = newJob(ids, { retry: fixed('5s') })
  const good = newJob(ids, { retry: fixed('5s') })
  await store.enqueue([spoilt, good])
  userDb(file).prepare("update triphammer_live set retry = 'often', error = 'went wrong', cancel = 'please' where id = ?").run(spoilt.id)

  const { jobs } = await store.admin.find({}, { limit: 10, order: 'oldest' })
  expect(jobs).toMatchObject([
    { id: spoilt.id, error: { name: 'Error', message: 'went wrong' } },
    { id: good.id, retry: good.retry },
  ])
  expect(jobs[0]).not.toHaveProperty('retry')
  const { runs } = await store.claim(request({ leaseMs: 1 }))
  expect(runs).toMatchObject([
    { id: spoilt.id, cancelRequested: true },
    { id: good.id, retry: good.retry },
  ])
  expect(runs[0]).not.toHaveProperty('retry')
  await new Promise((resolve) => setTimeout(resolve, 5))
  const reclaimed = await store.reclaim(reclaimRequest())
  expect(reclaimed.map(({ id }) => id).sort()).toEqual([spoilt.id, good.id].sort())
  expect(await store.finish([{ lease: reclaimed.find(({ id }) => id === spoilt.id)!.lease, kind: 'cancelled' }])).toMatchObject([
    { state: 'applied' },
  ])
})
