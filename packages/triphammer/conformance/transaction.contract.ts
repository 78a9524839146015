import { expect, it } from 'vitest'
import { isTriphammerError } from '../src/core/errors.ts'
import { completed, failure, NO_TOKEN, reclaimRequest, request } from './builders.ts'
import { forEachStore } from './harness.ts'

// A few turns of the event loop: in a store where nobody waits, another handle has acted by then.
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

forEachStore('transaction', (open) => {
  it('[I4] a commit writes all of it', async () => {
    const { store, add, job, claim, find } = await open()
    const [done, gone] = [await add(), await add({ queue: 'other' })]
    const [run] = await claim()
    const added = job({ queue: 'third' })
    const value = await store.transaction(async (tx) => {
      expect(await store.enqueue([added], tx)).toEqual([{ id: added.id, status: 'inserted' }])
      expect((await store.finish([completed(run!)], tx))[0]?.state).toBe('applied')
      expect((await store.admin.remove({ ids: [gone] }, { limit: 1 }, tx)).changed).toHaveLength(1)
      return 'value'
    })
    expect(value).toBe('value')
    expect((await find(added.id))?.state).toBe('pending')
    expect((await find(done))?.state).toBe('completed')
    expect(await find(gone)).toBeUndefined()
  })

  it('[I4] a rejection writes none of it, and passes on', async () => {
    const { store, add, job, claim, find } = await open()
    const [done, killed, gone] = [await add(), await add({ queue: 'other' }), await add({ queue: 'other' })]
    const [run] = await claim()
    const [added, child] = [job(), job()]
    const failing = store.transaction(async (tx) => {
      await store.enqueue([added], tx)
      await store.finish([{ ...completed(run!), spawn: [child] }], tx)
      await store.admin.apply({ ids: [killed] }, { kind: 'kill', error: failure() }, { limit: 1 }, tx)
      await store.admin.remove({ ids: [gone] }, { limit: 1 }, tx)
      throw new RangeError('rolled back')
    })
    await expect(failing).rejects.toThrow(RangeError)
    for (const id of [added.id, child.id]) expect(await find(id)).toBeUndefined()
    expect((await find(done))?.state).toBe('running')
    expect((await find(killed))?.state).toBe('pending')
    expect((await find(gone))?.state).toBe('pending')
    expect((await store.finish([completed(run!)]))[0]?.state).toBe('applied')
  })

  it('[I4] nothing is visible to others before the commit', async () => {
    const { store, another, add, job, claim } = await open()
    const other = await another()
    const id = await add()
    const [run] = await claim()
    const added = job({ queue: 'other' })
    await store.transaction(async (tx) => {
      await store.enqueue([added], tx)
      await store.finish([completed(run!)], tx)
      const { jobs } = await other.admin.find({}, { limit: 10, order: 'oldest' })
      expect(jobs.map((record) => [record.id, record.state])).toEqual([[id, 'running']])
    })
    expect(await other.admin.count({}, 'state')).toEqual(
      expect.arrayContaining([
        { key: 'completed', count: 1 },
        { key: 'pending', count: 1 },
      ]),
    )
  })

  it('what it wrote itself, it sees', async () => {
    const { store, add, job, claim, find } = await open()
    await add()
    const [run] = await claim()
    const added = job()
    await store.transaction(async (tx) => {
      await store.enqueue([added], tx)
      expect(await store.enqueue([added], tx)).toEqual([{ id: added.id, status: 'duplicate' }])
      await store.finish([completed(run!)], tx)
      expect((await store.finish([completed(run!)], tx))[0]?.state).toBe('stale')
      const killed = await store.admin.apply({ ids: [added.id] }, { kind: 'kill', error: failure() }, { limit: 1 }, tx)
      expect(killed.changed.map(({ state }) => state)).toEqual(['dead'])
    })
    expect((await find(added.id))?.state).toBe('dead')
  })

  it('[I1] a stale finish in it is told so at once, and the rest is committed', async () => {
    const { store, add, job, find } = await open()
    const id = await add()
    const added = job()
    await store.transaction(async (tx) => {
      expect((await store.finish([{ lease: { id, token: NO_TOKEN }, kind: 'completed' }], tx))[0]?.state).toBe('stale')
      await store.enqueue([added], tx)
    })
    expect((await find(id))?.state).toBe('pending')
    expect((await find(added.id))?.state).toBe('pending')
  })

  it('a cancel that was requested before is told in it', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const [run] = await claim()
    await store.admin.apply({ ids: [id] }, { kind: 'cancel' }, { limit: 1 })
    await store.transaction(async (tx) => {
      expect((await store.finish([completed(run!)], tx))[0]?.state).toBe('cancel')
      expect((await store.finish([{ lease: run!.lease, kind: 'cancelled' }], tx))[0]?.state).toBe('applied')
    })
    expect((await find(id))?.state).toBe('cancelled')
  })

  // Either others wait for the transaction or it fails at its commit; never do both of them have their way.
  it.each(['kill', 'reclaim', 'finish'] as const)('[I1] [I4] a %s in the meantime: the transaction or it, never both', async (rival) => {
    const { store, another, add, job, claim, find, clock } = await open()
    const other = await another()
    const id = await add()
    const [run] = await claim({ leaseMs: 1_000 })
    await clock.advance(1_000)
    const added = job()

    const act = async (): Promise<boolean> => {
      if (rival === 'reclaim') return (await other.reclaim(reclaimRequest())).length === 1
      if (rival === 'finish') return (await other.finish([{ lease: run!.lease, kind: 'dead', error: failure() }]))[0]?.state === 'applied'
      return (await other.admin.apply({ ids: [id] }, { kind: 'kill', error: failure() }, { limit: 1 })).changed.length === 1
    }
    let acting: Promise<boolean> | undefined
    const committing = store.transaction(async (tx) => {
      await store.enqueue([added], tx)
      expect((await store.finish([completed(run!)], tx))[0]?.state).toBe('applied')
      acting = act().catch((error: unknown) => {
        if (isTriphammerError(error, 'STORE_BUSY')) return false
        throw error
      })
      await turns()
    })
    const committed = await committing.then(
      () => true,
      (error: unknown) => {
        expect(isTriphammerError(error, 'TX_CONFLICT')).toBe(true)
        return false
      },
    )
    expect(await acting).toBe(!committed)
    const rivalState = rival === 'reclaim' ? 'running' : 'dead'
    expect((await find(id))?.state).toBe(committed ? 'completed' : rivalState)
    expect((await find(added.id)) !== undefined).toBe(committed)
  })

  it('[I3] [I4] a claim of the job that it cancels: cancelled unclaimed, or claimed and not cancelled', async () => {
    const { store, another, add, find } = await open()
    const other = await another()
    const id = await add()
    let claiming: Promise<number> | undefined
    const committing = store.transaction(async (tx) => {
      const { changed } = await store.admin.apply({ ids: [id] }, { kind: 'cancel' }, { limit: 1 }, tx)
      expect(changed.map(({ state }) => state)).toEqual(['cancelled'])
      claiming = other.claim(request()).then(
        ({ runs }) => runs.length,
        (error: unknown) => (isTriphammerError(error, 'STORE_BUSY') ? 0 : Promise.reject(error)),
      )
      await turns()
    })
    const committed = await committing.then(
      () => true,
      (error: unknown) => !isTriphammerError(error, 'TX_CONFLICT'),
    )
    expect(await claiming).toBe(committed ? 0 : 1)
    const record = await find(id)
    expect(record?.state).toBe(committed ? 'cancelled' : 'running')
    expect(record).not.toHaveProperty('cancelRequested')
  })

  it('a heartbeat in the meantime does no harm', async () => {
    const { store, another, add, claim, find } = await open()
    const other = await another()
    const id = await add()
    const [run] = await claim({ leaseMs: 1_000 })
    let beating: Promise<unknown> | undefined
    await store.transaction(async (tx) => {
      await store.finish([completed(run!)], tx)
      beating = other.extend([run!.lease], { leaseMs: 2_000 })
      await turns()
    })
    expect(['held', 'lost']).toContain(((await beating) as { state: string }[])[0]?.state)
    expect((await find(id))?.state).toBe('completed')
  })

  it('one after the other, each sees what the one before committed', async () => {
    const { store, job } = await open()
    const mine = job()
    const statuses: string[] = []
    for (let n = 0; n < 3; n++) {
      await store.transaction(async (tx) => {
        const [result] = await store.enqueue([mine], tx)
        statuses.push(result!.status)
      })
    }
    expect(statuses).toEqual(['inserted', 'duplicate', 'duplicate'])
  })

  it('many at once all commit', async () => {
    const { store, job } = await open()
    const jobs = Array.from({ length: 10 }, () => job())
    const insert = (mine: (typeof jobs)[number]): Promise<unknown> => store.transaction(async (tx) => store.enqueue([mine], tx))
    await Promise.all(jobs.map(insert))
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 10 }])
  })
})

forEachStore('adopt', (open) => {
  it('refuses what is no connection of its kind', async () => {
    const { store } = await open()
    for (const foreign of [undefined, null, 42, 'tx', {}, [], () => {}, { db: {} }]) {
      expect(() => store.adopt(foreign)).toThrow(expect.objectContaining({ code: 'TX_UNSUPPORTED' }))
    }
  })

  it('takes the connection of an open transaction, and refuses it once that has ended', async () => {
    const { store, job, find } = await open()
    const added = job()
    const ended = await store.transaction(async (tx) => {
      await store.enqueue([added], store.adopt(tx.db))
      return tx
    })
    expect((await find(added.id))?.state).toBe('pending')
    const adopting = async (): Promise<unknown> => store.enqueue([job()], store.adopt(ended.db))
    await expect(adopting()).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
    await expect(store.enqueue([job()], ended)).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
    await expect(store.finish([{ lease: { id: added.id, token: NO_TOKEN }, kind: 'completed' }], ended)).rejects.toMatchObject({
      code: 'TX_NOT_OPEN',
    })
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 1 }])
  })
})
