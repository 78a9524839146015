import { expect, it } from 'vitest'
import type { LeaseState } from '../src/store/types.ts'
import { completed, NO_TOKEN, reclaimRequest } from './builders.ts'
import { forEachStore } from './harness.ts'

forEachStore('extend', (open) => {
  it('lets a lease end that much later, from now', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [run] = await claim({ leaseMs: 10_000 })
    await clock.advance(6_000)
    expect(await store.extend([run!.lease], { leaseMs: 10_000 })).toEqual([{ state: 'held' }])
    expect((await find(id))?.leaseUntil).toBe(clock.now() + 10_000)
  })

  it('never shortens a lease', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [run] = await claim({ leaseMs: 60_000 })
    expect(await store.extend([run!.lease], { leaseMs: 1_000 })).toEqual([{ state: 'held' }])
    expect((await find(id))?.leaseUntil).toBe(clock.now() + 60_000)
  })

  it('without a length it only looks', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [run] = await claim({ leaseMs: 10_000 })
    const until = clock.now() + 10_000
    await clock.advance(5_000)
    expect(await store.extend([run!.lease], {})).toEqual([{ state: 'held' }])
    expect((await find(id))?.leaseUntil).toBe(until)
  })

  it('[I1] [I7] a stale lease is lost, writes nothing and hides none of its neighbours', async () => {
    const { store, job, claim, find, clock } = await open()
    await store.enqueue([job(), job(), job()])
    const [a, b, c] = await claim({ leaseMs: 10_000 })
    await store.finish([completed(b!)])
    await clock.advance(1_000)
    const leases = [a!.lease, b!.lease, { id: c!.id, token: NO_TOKEN }, { id: job().id, token: NO_TOKEN }, c!.lease]
    const states = (await store.extend(leases, { leaseMs: 10_000 })).map(({ state }) => state)
    expect(states).toEqual(['held', 'lost', 'lost', 'lost', 'held'])
    expect((await find(a!.id))?.leaseUntil).toBe(clock.now() + 10_000)
    expect(await find(b!.id)).not.toHaveProperty('leaseUntil')
  })

  it('[I1] a token of another job is not a key', async () => {
    const { store, job, claim } = await open()
    await store.enqueue([job(), job()])
    const [a] = await claim({ limit: 1 })
    const [b] = await claim({ limit: 1 })
    expect(await store.extend([{ id: a!.id, token: b!.lease.token }], { leaseMs: 1 })).toEqual([{ state: 'lost' }])
  })

  it('[I3] an expired lease that nobody has reclaimed is still its holder’s', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [run] = await claim({ leaseMs: 1_000 })
    await clock.advance('1h')
    expect(await store.extend([run!.lease], { leaseMs: 1_000 })).toEqual([{ state: 'held' }])
    expect(await find(id)).toMatchObject({ state: 'running', leaseUntil: clock.now() + 1_000 })
    expect(await store.reclaim(reclaimRequest())).toEqual([])
  })

  it('[I3] tells of a cancel and of a pause, and extends all the same', async () => {
    const { store, add, claim, find, clock } = await open()
    const [a, b] = [await add(), await add()]
    const runs = await claim({ leaseMs: 10_000 })
    const leases = runs.map(({ lease }) => lease)
    const extend = async (): Promise<readonly LeaseState[]> => store.extend(leases, { leaseMs: 10_000 })
    await clock.advance(1_000)
    await store.admin.apply({ ids: [a] }, { kind: 'cancel' }, { limit: 1 })
    expect(await extend()).toEqual([{ state: 'cancel' }, { state: 'held' }])
    await store.admin.setQueue('default', { paused: {} })
    expect(await extend()).toEqual([{ state: 'cancel' }, { state: 'paused' }])
    for (const id of [a, b]) expect((await find(id))?.leaseUntil).toBe(clock.now() + 10_000)
    await store.admin.setQueue('default', { paused: null })
    expect(await extend()).toEqual([{ state: 'cancel' }, { state: 'held' }])
  })

  it('no leases are no work', async () => {
    const { store } = await open()
    expect(await store.extend([], { leaseMs: 1_000 })).toEqual([])
  })
})

forEachStore(
  'progress',
  (open) => {
    it('is kept until the next, through the end of the job', async () => {
      const { store, add, claim, find } = await open()
      const id = await add()
      const [run] = await claim()
      await store.extend([run!.lease], { leaseMs: 1_000, progress: new Map([[id, '{"done":1}']]) })
      await store.extend([run!.lease], { leaseMs: 1_000 })
      expect(JSON.parse((await find(id))!.progress!)).toEqual({ done: 1 })
      await store.extend([run!.lease], { progress: new Map([[id, '{"done":2}']]) })
      expect(JSON.parse((await find(id))!.progress!)).toEqual({ done: 2 })
      await store.finish([completed(run!)])
      expect(JSON.parse((await find(id))!.progress!)).toEqual({ done: 2 })
    })

    it('[I1] only the holder of the lease writes it', async () => {
      const { store, job, claim, find } = await open()
      await store.enqueue([job(), job()])
      const [a, b] = await claim()
      const progress = new Map([
        [a!.id, '1'],
        [b!.id, '2'],
      ])
      await store.extend([a!.lease, { id: b!.id, token: NO_TOKEN }], { leaseMs: 1_000, progress })
      expect((await find(a!.id))?.progress).toBe('1')
      expect(await find(b!.id)).not.toHaveProperty('progress')
    })
  },
  { needs: ['results'] },
)
