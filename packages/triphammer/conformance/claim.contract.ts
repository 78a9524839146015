import { expect, it } from 'vitest'
import { fixed } from '../src/core/retry.ts'
import { completed, failure, NO_TOKEN, request } from './builders.ts'
import { forEachStore } from './harness.ts'

forEachStore('claim', (open) => {
  it('[I2] writes lease, attempt and start in one step', async () => {
    const { add, claim, find, clock } = await open()
    const id = await add()
    await clock.advance(10)
    const [run] = await claim({ leaseMs: 30_000 })
    expect(await find(id)).toMatchObject({
      state: 'running',
      attempt: 1,
      startedAt: clock.now(),
      leaseUntil: clock.now() + 30_000,
    })
    expect(run).toMatchObject({ id, attempt: 1, claimedAt: clock.now(), lease: { id } })
  })

  it('gives all that is known of the job', async () => {
    const { add, claim, clock } = await open()
    const retry = fixed('3s')
    const createdAt = clock.now()
    const id = await add({ task: 'report', priority: 10, maxAttempts: 9, timeoutMs: 1_500, retry, retainMs: 7_000, runAt: createdAt - 5 })
    const [run] = await claim()
    expect(run).toEqual({
      lease: { id, token: expect.any(String) },
      ...{ id, task: 'report', queue: 'default', payload: expect.any(String), priority: 10, attempt: 1, maxAttempts: 9 },
      ...{ runAt: createdAt - 5, createdAt, claimedAt: createdAt, timeoutMs: 1_500, retry, retainMs: 7_000, links: 0 },
    })
  })

  it('[I7] in the order of priority, then run time, then id', async () => {
    const { store, job, claim, clock } = await open()
    const now = clock.now()
    const [a, b, c, d, e, f] = [
      job({ priority: 0, runAt: now - 10 }),
      job({ priority: -20, runAt: now - 1 }),
      job({ priority: 5, runAt: now - 1_000 }),
      job({ priority: 0, runAt: now - 20 }),
      job({ priority: 0, runAt: now - 10 }),
      job({ priority: -32_768, runAt: now }),
    ] as const
    await store.enqueue([e, c, f, b, a, d])
    expect((await claim()).map(({ id }) => id)).toEqual([f, b, d, a, e, c].map(({ id }) => id))
  })

  it('[I7] jobs enqueued in one call run in order', async () => {
    const { store, job, claim } = await open()
    const jobs = Array.from({ length: 30 }, () => job())
    await store.enqueue(jobs)
    const claimed = [...(await claim({ limit: 7 })), ...(await claim({ limit: 7 })), ...(await claim({ limit: 100 }))]
    expect(claimed.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id))
  })

  it('takes no more than the limit, and nothing at 0', async () => {
    const { store, job, claim } = await open()
    await store.enqueue(Array.from({ length: 5 }, () => job()))
    expect(await claim({ limit: 0 })).toEqual([])
    expect(await claim({ limit: 3 })).toHaveLength(3)
    expect(await claim({ limit: 3 })).toHaveLength(2)
    expect(await claim({ limit: 3 })).toEqual([])
  })

  it('of its own queue alone', async () => {
    const { add, claim } = await open()
    const [mail] = [await add({ queue: 'mail' }), await add({ queue: 'mailbox' })]
    expect((await claim({ queue: 'mail' })).map(({ id }) => id)).toEqual([mail])
    expect(await claim()).toEqual([])
  })

  it('of its own tasks alone, wherever they stand', async () => {
    const { add, claim } = await open()
    for (let n = 0; n < 5; n++) await add({ task: 'other' })
    const [a, b] = [await add({ task: 'a' }), await add({ task: 'b' })]
    const c = await add({ task: 'c' })
    expect((await claim({ tasks: ['a', 'b'], limit: 5 })).map(({ id }) => id)).toEqual([a, b])
    expect((await claim({ tasks: ['c'], limit: 5 })).map(({ id }) => id)).toEqual([c])
    expect(await claim({ tasks: [] })).toEqual([])
    expect(await claim({ limit: 10 })).toHaveLength(5)
  })

  it('[I5] a job is due at its run time and not a millisecond before', async () => {
    const { add, claim, clock } = await open()
    const id = await add({ delayMs: 1_000 })
    await clock.advance(999)
    expect(await claim()).toEqual([])
    await clock.advance(1)
    expect((await claim()).map((run) => run.id)).toEqual([id])
  })

  it('a job that is due later hides none behind it', async () => {
    const { add, claim } = await open()
    await add({ priority: -20, delayMs: 1_000 })
    const due = await add({ priority: 20 })
    expect((await claim({ limit: 1 })).map(({ id }) => id)).toEqual([due])
  })

  it('tells when the next job falls due, if it tells', async () => {
    const { store, add, clock } = await open()
    await add({ delayMs: 9_000 })
    await add({ delayMs: 5_000, priority: 20 })
    await clock.advance(1_000)
    expect((await store.claim(request())).dueInMs ?? 4_000).toBe(4_000)
    expect((await store.claim(request({ queue: 'empty' }))).dueInMs).toBeUndefined()
  })

  it('[I1] every claim has a token of its own', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const tokens = new Set<string>()
    for (let n = 0; n < 20; n++) {
      const [run] = await claim()
      tokens.add(run!.lease.token)
      await store.finish([{ lease: run!.lease, kind: 'release' }])
    }
    expect(tokens.size).toBe(20)
    expect(await find(id)).toMatchObject({ state: 'pending', attempt: 0 })
  })

  it('a running or an ended job is not claimed', async () => {
    const { store, add, claim } = await open()
    await add()
    const [run] = await claim()
    expect(await claim()).toEqual([])
    await store.finish([completed(run!)])
    expect(await claim()).toEqual([])
  })
})

forEachStore('claim that finishes', (open) => {
  it('finishes and claims in one step, and [I7] its results line up', async () => {
    const { store, job, claim, find } = await open()
    const jobs = [job(), job(), job()]
    await store.enqueue(jobs)
    const [a, b] = await claim({ limit: 2 })
    const stale = { lease: { id: b!.id, token: NO_TOKEN }, kind: 'completed' } as const
    const { runs, finished } = await store.claim(request({ finish: [stale, completed(a!)] }))
    expect(finished.map(({ state }) => state)).toEqual(['stale', 'applied'])
    expect(runs.map(({ id }) => id)).toEqual([jobs[2]!.id])
    expect((await find(a!.id))?.state).toBe('completed')
    expect((await find(b!.id))?.state).toBe('running')
  })

  it('does not claim what it has just finished', async () => {
    const { store, job, claim } = await open()
    await store.enqueue([job(), job(), job()])
    const [a, b, c] = await claim()
    const { runs, finished } = await store.claim(
      request({
        finish: [
          { lease: a!.lease, kind: 'release' },
          { lease: b!.lease, kind: 'retry', error: failure(), delayMs: 0 },
          { lease: c!.lease, kind: 'snooze', delayMs: 0 },
        ],
      }),
    )
    expect(finished.map(({ state }) => state)).toEqual(['applied', 'applied', 'applied'])
    expect(runs).toEqual([])
    expect((await claim()).map(({ id }) => id).sort()).toEqual([a, b, c].map((run) => run!.id).sort())
  })

  it('may claim what its outcomes have spawned', async () => {
    const { store, add, job, claim } = await open()
    await add()
    const [run] = await claim()
    const child = job({ task: 'child' })
    const { runs } = await store.claim(request({ finish: [{ ...completed(run!), spawn: [child] }] }))
    expect(runs.map(({ id }) => id)).toEqual([child.id])
  })

  it('finishes with a limit of 0 as well, and [Q3] while its queue is paused (the part about pausing)', async () => {
    const { store, job, claim, find } = await open()
    await store.enqueue([job(), job(), job()])
    const [a, b] = await claim({ limit: 2 })
    expect(await store.claim(request({ limit: 0, finish: [completed(a!)] }))).toMatchObject({ runs: [], finished: [{ state: 'applied' }] })
    await store.admin.setQueue('default', { paused: {} })
    expect(await store.claim(request({ finish: [completed(b!)] }))).toMatchObject({ runs: [], finished: [{ state: 'applied' }] })
    expect((await find(a!.id))?.state).toBe('completed')
    expect((await find(b!.id))?.state).toBe('completed')
  })
})
