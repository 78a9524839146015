import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { newJob } from '../../conformance/builders.ts'
import { freshFile, ids, storeOn, userDb } from './place.ts'

const LIMIT = 100_000
const payload = JSON.stringify('x'.repeat(50_000))

describe('the write-ahead log', () => {
  it('is truncated by maintenance when it is larger than the limit, and only then', async () => {
    const file = freshFile()
    const store = storeOn(file, { walLimitBytes: LIMIT })
    const size = (): number => statSync(`${file}-wal`).size
    const maintain = (): Promise<unknown> => store.maintain({ session: 's', limit: 10 })
    await store.enqueue([newJob(ids)])
    const small = size()
    expect(small).toBeGreaterThan(0)
    expect(small).toBeLessThanOrEqual(LIMIT)
    await maintain()
    expect(size()).toBe(small)
    await store.enqueue([newJob(ids, { payload }), newJob(ids, { payload })])
    expect(size()).toBeGreaterThan(LIMIT)
    await maintain()
    expect(size()).toBe(0)
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 3 }])
  })

  it('of one who reads just now is left for the next pass; maintenance does not wait', async () => {
    const file = freshFile()
    const store = storeOn(file, { walLimitBytes: LIMIT })
    const size = (): number => statSync(`${file}-wal`).size
    await store.enqueue([newJob(ids)])
    const reader = userDb(file)
    reader.exec('begin')
    reader.prepare('select count(*) from triphammer_live').all()
    await store.enqueue([newJob(ids, { payload }), newJob(ids, { payload })])
    const grown = size()
    expect(await store.maintain({ session: 's', limit: 10 })).toEqual({ removed: 0, more: false })
    expect(size()).toBe(grown)
    reader.exec('commit')
    await store.maintain({ session: 's', limit: 10 })
    expect(size()).toBe(0)
  })
})
