import { expect, it } from 'vitest'
import { DEFAULT_WEIGHTS, LEVEL_PRIORITY } from '../src/core/priority.ts'
import type { Store } from '../src/store/store.ts'
import type { ClaimRequest, JobId } from '../src/store/types.ts'
import { completed, OTHER, reclaimRequest, request } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'

const { critical, high, normal, low, background } = LEVEL_PRIORITY

// Enqueues jobs by [priority, age in seconds]; a job's age is its payload.
async function addAged({ add, clock }: Opened, ...aged: readonly (readonly [number, number])[]): Promise<void> {
  for (const [priority, age] of aged) await add({ priority, runAt: clock.now() - age * 1_000, payload: JSON.stringify({ age }) })
}

const SIX = [
  [normal, 50],
  [critical, 10],
  [low, 90],
  [normal, 70],
  [high, 20],
  [critical, 30],
] as const

forEachStore('claims by hand', (open) => {
  it('[Q1] a batch comes in the order of priority, then age', async () => {
    const opened = await open()
    const { claim, find } = opened
    await addAged(opened, ...SIX)
    const ages = async (limit: number): Promise<unknown[]> => (await claim({ limit })).map(({ payload }) => JSON.parse(payload).age)

    expect(await ages(0)).toEqual([])
    const first = await claim({ limit: 4 })
    expect(first.map(({ priority, payload }) => [priority, JSON.parse(payload).age])).toEqual([
      [critical, 30],
      [critical, 10],
      [high, 20],
      [normal, 70],
    ])
    for (const run of first) {
      expect(run.attempt).toBe(1)
      expect(await find(run.id)).toMatchObject({ state: 'running', attempt: 1, startedAt: run.claimedAt })
    }
    expect(await ages(10)).toEqual([50, 90])
    expect(await ages(10)).toEqual([])
  })

  it('[Q1] and so does a smaller one', async () => {
    const opened = await open()
    await addAged(opened, ...SIX)
    const runs = await opened.claim({ limit: 3, leaseMs: 60_000 })
    expect(runs.map(({ priority }) => priority)).toEqual([critical, critical, high])
  })

  it('[Q2] a weighted batch is filled from the picked level', async () => {
    const opened = await open()
    for (let age = 0; age < 5; age++) await addAged(opened, [high, 100 - age], [low, 200 - age])
    const weighted: Partial<ClaimRequest> = { weights: DEFAULT_WEIGHTS, leaseMs: 60_000 }
    const three = await opened.claim({ ...weighted, limit: 3 })
    expect(three).toHaveLength(3)
    expect(new Set(three.map(({ priority }) => priority)).size).toBe(1)
    const times = three.map(({ runAt }) => runAt)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const rest = await opened.claim({ ...weighted, limit: 10 })
    expect(rest).toHaveLength(7)
    expect(new Set([...three, ...rest].map(({ id }) => id)).size).toBe(10)
  })

  it('[Q3] a batch heeds a pause (the part about pausing)', async () => {
    const { store, add, claim } = await open()
    const ids = [await add(), await add()]
    await store.admin.setQueue('default', { paused: { by: 'test' } })
    expect(await claim({ limit: 10 })).toEqual([])
    await store.admin.setQueue('default', { paused: null })
    expect((await claim({ limit: 10 })).map(({ id }) => id)).toEqual(ids)
  })

  it('[Q4] a batch holds its leases', async () => {
    const { store, job, claim } = await open()
    await store.enqueue([job(), job(), job()])
    const runs = await claim({ limit: 3, leaseMs: 600_000 })
    expect(runs).toHaveLength(3)
    expect(await store.reclaim(reclaimRequest())).toEqual([])
    const leases = runs.map(({ lease }) => lease)
    expect(await store.extend(leases, { leaseMs: 600_000 })).toEqual(runs.map(() => ({ state: 'held' })))
  })

  it('[Q5] [I6] release puts an unstarted job back', async () => {
    const opened = await open()
    const { store, claim, find, clock } = opened
    await addAged(opened, [normal, 20], [normal, 10])
    const [first] = await claim({ limit: 2 })
    const release = { lease: first!.lease, kind: 'release' } as const
    const states = async (): Promise<unknown> => (await store.finish([release])).map(({ state }) => state)

    expect(await states()).toEqual(['applied'])
    const stored = await find(first!.id)
    expect(stored).toMatchObject({ state: 'pending', attempt: 0 })
    expect(stored).not.toHaveProperty('startedAt')
    expect(await states()).toEqual(['stale'])
    expect(await store.extend([first!.lease], { leaseMs: 60_000 })).toEqual([{ state: 'lost' }])

    const again = await claim({ limit: 5 })
    expect(again).toMatchObject([{ id: first!.id, attempt: 1, claimedAt: clock.now() }])
    expect(await states()).toEqual(['stale'])
    expect((await find(first!.id))?.state).toBe('running')
  })

  it('[Q6] parallel claimers never share a job', async () => {
    const { store, another, job, find } = await open()
    const levels = [background, low, normal, high, critical]
    const jobs = Array.from({ length: 300 }, (_, n) => job({ priority: levels[n % 5]! }))
    await store.enqueue(jobs)

    const claimers = await Promise.all(Array.from({ length: 8 }, another))
    const claimed = (await Promise.all(claimers.map((handle, t) => claimAll(handle, t)))).flat()
    expect(claimed).toHaveLength(300)
    expect(new Set(claimed)).toEqual(new Set(jobs.map(({ id }) => id)))
    for (let n = 0; n < 300; n += 15) expect(await find(jobs[n]!.id)).toMatchObject({ state: 'running', attempt: 1 })
  })
})

// One of the eight: singly, weighted or in batches, until the queue was found empty three times in a row.
async function claimAll(store: Store, t: number): Promise<JobId[]> {
  const how: Partial<ClaimRequest> = t % 4 === 0 ? { limit: 1 } : t % 4 === 1 ? { limit: 5 + t, weights: DEFAULT_WEIGHTS } : { limit: 7 }
  const claimed: JobId[] = []
  for (let empty = 0; empty < 3; ) {
    const { runs } = await store.claim(request({ ...how, session: `${OTHER.slice(0, -1)}${t}`, leaseMs: 600_000 }))
    claimed.push(...runs.map(({ id }) => id))
    empty = runs.length === 0 ? empty + 1 : 0
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return claimed
}

forEachStore('what is left of a claim', (open) => {
  it('[I7] a large queue is drained in batches, in order and to the last job', async () => {
    const { store, job, claim } = await open()
    const jobs = Array.from({ length: 500 }, (_, n) => job({ priority: n % 3 }))
    await store.enqueue(jobs)
    const order: JobId[] = []
    for (let runs = await claim(); runs.length > 0; ) {
      order.push(...runs.map(({ id }) => id))
      runs = (await store.claim(request({ finish: runs.map((run) => completed(run)) }))).runs
    }
    expect(order).toEqual([0, 1, 2].flatMap((priority) => jobs.filter((one) => one.priority === priority).map(({ id }) => id)))
    expect(await store.admin.count({}, 'state')).toEqual([{ key: 'completed', count: 500 }])
  })
})
