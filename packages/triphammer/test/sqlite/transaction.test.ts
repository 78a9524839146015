import { describe, expect, it } from 'vitest'
import { completed, newJob, request } from '../../conformance/builders.ts'
import { manualClock } from '../../src/core/manual-clock.ts'
import { freshFile, ids, storeOn, type UserDb, userDb } from './place.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('transaction()', () => {
  it("gives the driver's connection, for the user's own statements", async () => {
    const file = freshFile()
    userDb(file).exec('create table users (name text)')
    const store = storeOn(file)
    const insert = (name: string) => async (tx: { readonly db: unknown }) =>
      void (tx.db as UserDb).prepare('insert into users values (?)').run(name)
    await store.transaction(insert('a'))
    const failing = store.transaction(async (tx) => {
      await insert('b')(tx)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(userDb(file).prepare('select name from users').all()).toMatchObject([{ name: 'a' }])
  })

  it('no other call slips in while its function awaits', async () => {
    const store = storeOn(freshFile(), { clock: manualClock() })
    await store.admin.count({})
    const [inside, beside] = [newJob(ids), newJob(ids)]
    let writing: Promise<unknown> = Promise.resolve()
    const failing = store.transaction(async (tx) => {
      await store.enqueue([inside], tx)
      writing = store.enqueue([beside])
      await turn()
      expect(await store.admin.count({})).toEqual([{ key: 'all', count: 0 }])
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    await writing
    expect((await store.claim(request())).runs.map(({ id }) => id)).toEqual([beside.id])
  })

  it('several wait for each other, in order', async () => {
    const store = storeOn(freshFile())
    const steps: string[] = []
    const run = (name: string): Promise<void> =>
      store.transaction(async (tx) => {
        steps.push(`${name} in`)
        await store.enqueue([newJob(ids)], tx)
        await turn()
        if (name === 'b') throw new Error(name)
        steps.push(`${name} out`)
      })
    expect((await Promise.allSettled(['a', 'b', 'c'].map(run))).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(steps).toEqual(['a in', 'a out', 'b in', 'c in', 'c out'])
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 2 }])
  })

  it('STORE_BUSY at once for one within another: it would wait for ever', async () => {
    const store = storeOn(freshFile())
    const job = newJob(ids)
    await store.transaction(async (tx) => {
      await store.enqueue([job], tx)
      await expect(store.transaction(async () => {})).rejects.toMatchObject({ code: 'STORE_BUSY' })
    })
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 1 }])
  })

  it('one that was set off within another, and comes after it, is no harm', async () => {
    const store = storeOn(freshFile())
    let later: Promise<string> = Promise.resolve('never')
    await store.transaction(async () => {
      later = turn()
        .then(turn)
        .then(() => store.transaction(async () => 'done'))
    })
    expect(await later).toBe('done')
  })

  it('TX_NOT_OPEN when its function ends it by itself', async () => {
    const store = storeOn(freshFile())
    for (const end of ['commit', 'rollback']) {
      const ending = store.transaction(async (tx) => {
        await store.enqueue([newJob(ids)], tx)
        ;(tx.db as UserDb).exec(end)
      })
      await expect(ending).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
    }
    await store.transaction((tx) => store.enqueue([newJob(ids)], tx))
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 2 }])
  })

  it('STORE_CLOSED when the store is closed meanwhile, and nothing is written', async () => {
    const file = freshFile()
    const store = storeOn(file)
    const closing = store.transaction(async (tx) => {
      await store.enqueue([newJob(ids)], tx)
      await store.close()
    })
    await expect(closing).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(await storeOn(file).admin.count({})).toEqual([{ key: 'all', count: 0 }])
  })

  it('TX_UNSUPPORTED for a transaction of another store', async () => {
    const [mine, other] = [storeOn(freshFile()), storeOn(freshFile())]
    await other.transaction(async (tx) => {
      await expect(mine.enqueue([newJob(ids)], tx)).rejects.toMatchObject({ code: 'TX_UNSUPPORTED' })
    })
  })
})

describe("sqlite(':memory:')", () => {
  it('is a database of its own', async () => {
    const [store, other] = [storeOn(':memory:'), storeOn(':memory:')]
    await store.enqueue([newJob(ids)])
    const { runs } = await store.claim(request())
    expect(runs).toHaveLength(1)
    expect(await store.finish([completed(runs[0]!)])).toMatchObject([{ state: 'applied' }])
    expect(await store.maintain({ session: 's', limit: 10 })).toEqual({ removed: 0, more: false })
    expect(await other.admin.count({})).toEqual([{ key: 'all', count: 0 }])
  })

  it('other calls wait while a transaction is open, reads as well', async () => {
    const store = storeOn(':memory:', { clock: manualClock() })
    const [inside, beside] = [newJob(ids), newJob(ids)]
    let calls: Promise<unknown>[] = []
    const failing = store.transaction(async (tx) => {
      await store.enqueue([inside], tx)
      calls = [store.admin.count({}), store.enqueue([beside])]
      await turn()
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await calls[0]).toEqual([{ key: 'all', count: 0 }])
    expect(await calls[1]).toMatchObject([{ status: 'inserted' }])
  })

  it('TX_UNSUPPORTED for a connection of the user', () => {
    const store = storeOn(':memory:')
    const db = userDb(':memory:')
    db.exec('begin')
    expect(() => store.adopt(db)).toThrow(
      expect.objectContaining({ code: 'TX_UNSUPPORTED', message: expect.stringContaining('transaction()') }),
    )
  })
})
