import { expect, it } from 'vitest'
import { completed, everyOutcome, failure, OTHER, reclaimRequest, WORKER } from './builders.ts'
import { forEachStore } from './harness.ts'

forEachStore('reclaim', (open) => {
  it('[I3] takes what has expired, not a millisecond before', async () => {
    const { store, add, claim, clock } = await open()
    const id = await add()
    await claim({ leaseMs: 1_000 })
    await clock.advance(999)
    expect(await store.reclaim(reclaimRequest())).toEqual([])
    await clock.advance(1)
    expect((await store.reclaim(reclaimRequest())).map((run) => run.id)).toEqual([id])
  })

  it('[I1] the same attempt under a new token, leased to the caller', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add({ timeoutMs: 700, priority: 3 })
    const [run] = await claim({ leaseMs: 1_000 })
    await clock.advance(5_000)
    const [taken] = await store.reclaim(reclaimRequest({ leaseMs: 30_000 }))
    expect(taken).toEqual({ ...run, lease: { id, token: expect.any(String) } })
    expect(taken!.lease.token).not.toBe(run!.lease.token)
    expect(await find(id)).toMatchObject({ state: 'running', attempt: 1, startedAt: run!.claimedAt, leaseUntil: clock.now() + 30_000 })
    expect(await store.reclaim(reclaimRequest())).toEqual([])
  })

  it('[I1] [I3] after it the first holder has lost the run: extend and every finish are stale', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [run] = await claim({ leaseMs: 1_000 })
    await clock.advance(1_000)
    const [taken] = await store.reclaim(reclaimRequest())
    const before = await find(id)
    expect(await store.extend([run!.lease], { leaseMs: 600_000 })).toEqual([{ state: 'lost' }])
    for (const outcome of everyOutcome(run!)) expect((await store.finish([outcome]))[0]?.state).toBe('stale')
    expect(await find(id)).toEqual(before)
    expect(await store.extend([taken!.lease], {})).toEqual([{ state: 'held' }])
  })

  it('[I3] reclaimed, given back and claimed by another: the first holder is stale against the second too', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [run] = await claim({ leaseMs: 1_000 })
    await clock.advance(1_000)
    const [taken] = await store.reclaim(reclaimRequest())
    await store.finish([{ lease: taken!.lease, kind: 'retry', error: failure(), delayMs: 0 }])
    const [second] = await claim({ session: OTHER, leaseMs: 2_000 })
    expect(second).toMatchObject({ id, attempt: 2 })
    const before = await find(id)
    expect((await store.finish([completed(run!)]))[0]?.state).toBe('stale')
    expect((await store.finish([{ lease: run!.lease, kind: 'release' }]))[0]?.state).toBe('stale')
    expect(await store.extend([run!.lease], { leaseMs: 60_000 })).toEqual([{ state: 'lost' }])
    expect(await find(id)).toEqual(before)
  })

  it('the caller ends the run by policy: the start is that of the attempt', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [run] = await claim({ leaseMs: 1_000 })
    await clock.advance(9_000)
    const [taken] = await store.reclaim(reclaimRequest())
    await store.finish([{ lease: taken!.lease, kind: 'dead', error: failure() }])
    expect(await find(id)).toMatchObject({ state: 'dead', attempt: 1, startedAt: run!.claimedAt, endedAt: clock.now() })
  })

  it('[I3] a lease that was extended does not expire', async () => {
    const { store, job, claim, clock } = await open()
    await store.enqueue([job(), job()])
    const [a, b] = await claim({ leaseMs: 1_000 })
    await clock.advance(900)
    await store.extend([a!.lease], { leaseMs: 1_000 })
    await clock.advance(900)
    expect((await store.reclaim(reclaimRequest())).map(({ id }) => id)).toEqual([b!.id])
  })

  it('of every queue, or of those that were named; no more than the limit, longest expired first', async () => {
    const { store, job, claim, clock } = await open()
    await store.enqueue([job({ queue: 'a' }), job({ queue: 'b' }), job({ queue: 'c' })])
    const ids = new Map<string, string>()
    for (const [index, queue] of ['c', 'a', 'b'].entries()) {
      const [run] = await claim({ queue, leaseMs: 1_000 + index })
      ids.set(queue, run!.id)
    }
    await clock.advance('1m')
    const reclaim = async (over: object): Promise<string[]> => (await store.reclaim(reclaimRequest(over))).map(({ id }) => id)
    expect(await reclaim({ queues: [] })).toEqual([])
    expect(await reclaim({ queues: ['b', 'none'] })).toEqual([ids.get('b')])
    expect(await reclaim({ limit: 1 })).toEqual([ids.get('c')])
    expect(await reclaim({})).toEqual([ids.get('a')])
  })

  it('of a paused queue as well', async () => {
    const { store, add, claim, clock } = await open()
    await add()
    await claim({ leaseMs: 1_000 })
    await store.admin.setQueue('default', { paused: {} })
    await clock.advance(1_000)
    expect(await store.reclaim(reclaimRequest())).toHaveLength(1)
  })

  it('tells of a requested cancel', async () => {
    const { store, add, claim, clock } = await open()
    const id = await add()
    await claim({ leaseMs: 1_000 })
    await store.admin.apply({ ids: [id] }, { kind: 'cancel', reason: 'asked' }, { limit: 1 })
    await clock.advance(1_000)
    const [taken] = await store.reclaim(reclaimRequest())
    expect(taken).toMatchObject({ id, cancelRequested: true })
    const retry = { lease: taken!.lease, kind: 'retry', error: failure(), delayMs: 0 } as const
    expect((await store.finish([retry]))[0]?.state).toBe('cancel')
  })

  it('a session may take its own expired runs', async () => {
    const { store, add, claim, clock } = await open()
    await add()
    const [run] = await claim({ leaseMs: 1_000 })
    await clock.advance(1_000)
    const [taken] = await store.reclaim(reclaimRequest({ session: WORKER }))
    expect(await store.extend([run!.lease, taken!.lease], {})).toEqual([{ state: 'lost' }, { state: 'held' }])
  })

  it.each(['finish first', 'reclaim first'])(
    '[I1] [I3] finish and reclaim from two handles at once, %s: one of them wins',
    async (first) => {
      const { store, another, add, claim, find, clock } = await open()
      const other = await another()
      for (let n = 0; n < 10; n++) {
        const id = await add()
        const [run] = await claim({ leaseMs: 1_000 })
        await clock.advance(1_000)
        const finish = (): Promise<unknown> => store.finish([completed(run!)]).then((results) => results[0]?.state)
        const reclaim = (): Promise<number> => other.reclaim(reclaimRequest()).then((runs) => runs.length)
        const [state, taken] =
          first === 'finish first'
            ? await Promise.all([finish(), reclaim()])
            : await Promise.all([reclaim(), finish()]).then(([b, a]) => [a, b])
        expect([state, taken]).toEqual(taken === 1 ? ['stale', 1] : ['applied', 0])
        expect((await find(id))?.state).toBe(taken === 1 ? 'running' : 'completed')
        await store.admin.remove({}, { limit: 10, force: true })
      }
    },
  )

  it('[I3] two handles that reclaim at once share the runs out', async () => {
    const { store, another, job, claim, clock } = await open()
    const other = await another()
    await store.enqueue(Array.from({ length: 40 }, () => job()))
    const runs = await claim({ limit: 40, leaseMs: 1_000 })
    await clock.advance(1_000)
    const half = reclaimRequest({ limit: 25 })
    const taken = (await Promise.all([store.reclaim(half), other.reclaim(half), other.reclaim(half)])).flat()
    expect(taken.map(({ id }) => id).sort()).toEqual(runs.map(({ id }) => id).sort())
  })
})
