import { expect, it } from 'vitest'
import type { JobRecord } from '../src/store/admin.ts'
import type { OutcomeKind } from '../src/store/types.ts'
import { completed, everyOutcome, failure, NO_TOKEN } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'

const APPLIED = [{ state: 'applied', ended: [], released: [] }]
const STALE = [{ state: 'stale', ended: [], released: [] }]

// A job that was enqueued 10 ms before it was claimed, then finished 500 ms later with this outcome.
async function finished({ store, add, claim, find, clock }: Opened, outcome: OutcomeKind, times = {}): Promise<JobRecord | undefined> {
  const id = await add()
  await clock.advance(10)
  const [run] = await claim()
  await clock.advance(500)
  expect(await store.finish([{ lease: run!.lease, ...outcome, ...times }])).toEqual(APPLIED)
  return find(id)
}

forEachStore('finish', (open) => {
  it('completed', async () => {
    const opened = await open()
    const record = await finished(opened, { kind: 'completed' })
    const now = opened.clock.now()
    expect(record).toMatchObject({ state: 'completed', attempt: 1, startedAt: now - 500, endedAt: now })
    for (const gone of ['leaseUntil', 'error', 'result', 'cancelRequested']) expect(record).not.toHaveProperty(gone)
  })

  it.each(['dead', 'timed_out', 'failed'] as const)('%s', async (kind) => {
    const opened = await open()
    const record = await finished(opened, { kind, error: failure() })
    const now = opened.clock.now()
    expect(record).toMatchObject({ state: kind, attempt: 1, startedAt: now - 500, endedAt: now, error: failure() })
    expect(record).not.toHaveProperty('leaseUntil')
  })

  it('cancelled, with the reason', async () => {
    const opened = await open()
    const record = await finished(opened, { kind: 'cancelled', reason: 'not needed' })
    expect(record).toMatchObject({
      state: 'cancelled',
      endedAt: opened.clock.now(),
      error: { name: 'Cancelled', code: 'CANCELLED', message: 'not needed' },
    })
    const plain = await finished(opened, { kind: 'cancelled' })
    expect(plain?.error).toEqual({ name: 'Cancelled', code: 'CANCELLED', message: 'the job was cancelled' })
  })

  it("[I5] retry: the attempt, its start and its error are kept, the delay is added to the store's clock", async () => {
    const opened = await open()
    const record = await finished(opened, { kind: 'retry', error: failure(), delayMs: 2_000 })
    const now = opened.clock.now()
    expect(record).toMatchObject({ state: 'pending', attempt: 1, runAt: now + 2_000, startedAt: now - 500, error: failure() })
    for (const gone of ['leaseUntil', 'endedAt']) expect(record).not.toHaveProperty(gone)
    expect(await opened.claim()).toEqual([])
    await opened.clock.advance(2_000)
    expect(await opened.claim()).toMatchObject([{ attempt: 2 }])
  })

  it('retry at a moment', async () => {
    const opened = await open()
    const at = opened.clock.now() + 77_000
    expect(await finished(opened, { kind: 'retry', error: failure(), at })).toMatchObject({ state: 'pending', runAt: at })
  })

  it('[I6] snooze refunds the attempt', async () => {
    const opened = await open()
    const record = await finished(opened, { kind: 'snooze', delayMs: 3_000 })
    expect(record).toMatchObject({ state: 'pending', attempt: 0, runAt: opened.clock.now() + 3_000 })
    for (const gone of ['leaseUntil', 'startedAt', 'endedAt', 'error']) expect(record).not.toHaveProperty(gone)
  })

  it('the last error stays through retries, snoozes and a success', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const finish = async (outcome: OutcomeKind): Promise<void> => {
      const [run] = await claim()
      expect(await store.finish([{ lease: run!.lease, ...outcome }])).toEqual(APPLIED)
    }
    await finish({ kind: 'retry', error: failure('first'), delayMs: 0 })
    await finish({ kind: 'snooze', delayMs: 0 })
    expect(await find(id)).toMatchObject({ attempt: 1, error: failure('first') })
    await finish({ kind: 'retry', error: failure('second'), delayMs: 0 })
    await finish({ kind: 'completed' })
    expect(await find(id)).toMatchObject({ state: 'completed', attempt: 3, error: failure('second') })
  })

  it('start and end come with the outcome, as times after the claim', async () => {
    const opened = await open()
    const times = { startedMs: 120, endedMs: 410 }
    const done = await finished(opened, { kind: 'completed' }, times)
    const claimedAt = opened.clock.now() - 500
    expect(done).toMatchObject({ startedAt: claimedAt + 120, endedAt: claimedAt + 410 })

    const dead = await finished(opened, { kind: 'dead', error: failure() }, times)
    expect(dead).toMatchObject({ startedAt: opened.clock.now() - 380, endedAt: opened.clock.now() - 90 })

    const again = await finished(opened, { kind: 'retry', error: failure(), delayMs: 1_000 }, times)
    expect(again).toMatchObject({ startedAt: opened.clock.now() - 380, runAt: opened.clock.now() + 1_000 })
    expect(again).not.toHaveProperty('endedAt')
  })

  it.each([
    ['cancelled', { kind: 'cancelled', unstarted: true }],
    ['failed', { kind: 'failed', error: failure(), unstarted: true }],
  ] as const)('[I6] a run that ends %s before it started gives its attempt back and keeps no start', async (state, kind) => {
    const opened = await open()
    const ended = await finished(opened, kind)
    expect(ended).toMatchObject({ state, attempt: 0, endedAt: opened.clock.now() })
    expect(ended).not.toHaveProperty('startedAt')
  })

  it('moments are whole milliseconds, however fine the worker measures', async () => {
    const opened = await open()
    const done = await finished(opened, { kind: 'completed' }, { startedMs: 1.234, endedMs: 2.345 })
    expect([done?.startedAt, done?.endedAt].every(Number.isInteger)).toBe(true)
    expect(done!.endedAt! - done!.startedAt!).toBeGreaterThanOrEqual(0)
  })

  it('[I1] [I3] a stale finish writes nothing', async () => {
    const { store, add, claim, find, job } = await open()
    const id = await add()
    const [first] = await claim()
    await store.finish([{ lease: first!.lease, kind: 'release' }])
    const [second] = await claim()
    const before = await find(id)
    const child = job()
    const forged = { ...second!, lease: { id, token: NO_TOKEN } }
    for (const outcome of [...everyOutcome(first!), ...everyOutcome(forged)]) {
      expect(await store.finish([{ ...outcome, spawn: [child] }])).toEqual(STALE)
    }
    expect(await find(id)).toEqual(before)
    expect(await find(child.id)).toBeUndefined()
  })

  it('[I1] nothing can be said about a run that has ended', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const [run] = await claim()
    await store.finish([completed(run!)])
    const before = await find(id)
    for (const outcome of everyOutcome(run!)) expect(await store.finish([outcome])).toEqual(STALE)
    expect(await find(id)).toEqual(before)
  })

  it('a job that never was is stale', async () => {
    const { store, job } = await open()
    const lease = { id: job().id, token: NO_TOKEN }
    expect(await store.finish([{ lease, kind: 'completed' }])).toEqual(STALE)
  })

  it('[I7] results line up, and a stale outcome hides none of its neighbours', async () => {
    const { store, job, claim, find } = await open()
    await store.enqueue([job(), job(), job(), job()])
    const [a, b, c, d] = await claim()
    const results = await store.finish([
      completed(d!),
      { lease: { id: b!.id, token: NO_TOKEN }, kind: 'dead', error: failure() },
      { lease: c!.lease, kind: 'release' },
      { lease: { id: job().id, token: NO_TOKEN }, kind: 'completed' },
      { lease: a!.lease, kind: 'dead', error: failure() },
    ])
    expect(results.map(({ state }) => state)).toEqual(['applied', 'stale', 'applied', 'stale', 'applied'])
    const states = await Promise.all([a, b, c, d].map((run) => find(run!.id)))
    expect(states.map((record) => record?.state)).toEqual(['dead', 'running', 'pending', 'completed'])
  })

  it('[I3] an expired lease that nobody has reclaimed still finishes', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [run] = await claim({ leaseMs: 1_000 })
    await clock.advance('1h')
    expect(await store.finish([completed(run!)])).toEqual(APPLIED)
    expect((await find(id))?.state).toBe('completed')
  })

  it('one outcome from two handles is applied once', async () => {
    const { store, another, add, claim } = await open()
    const other = await another()
    for (let n = 0; n < 10; n++) {
      await add()
      const [run] = await claim()
      const answers = await Promise.all([store.finish([completed(run!)]), other.finish([{ lease: run!.lease, kind: 'release' }])])
      expect(
        answers
          .flat()
          .map(({ state }) => state)
          .sort(),
      ).toEqual(['applied', 'stale'])
      await store.admin.remove({}, { limit: 10 })
    }
  })

  it('no outcomes are no work', async () => {
    const { store } = await open()
    expect(await store.finish([])).toEqual([])
  })
})

forEachStore('finish of a run whose cancel was requested', (open) => {
  it('answers cancel and writes nothing, whatever the outcome, until it is cancelled', async () => {
    const { store, add, claim, find, job } = await open()
    const id = await add()
    const [run] = await claim()
    await store.admin.apply({ ids: [id] }, { kind: 'cancel', reason: 'changed my mind' }, { limit: 1 })
    const before = await find(id)
    expect(before).toMatchObject({ state: 'running', cancelRequested: true })
    const child = job()
    for (const outcome of everyOutcome(run!)) {
      if (outcome.kind === 'cancelled') continue
      expect(await store.finish([{ ...outcome, spawn: [child] }])).toEqual([{ state: 'cancel', ended: [], released: [] }])
    }
    expect(await find(id)).toEqual(before)
    expect(await find(child.id)).toBeUndefined()

    expect(await store.finish([{ lease: run!.lease, kind: 'cancelled' }])).toEqual(APPLIED)
    const after = await find(id)
    expect(after).toMatchObject({ state: 'cancelled', error: { message: 'changed my mind' } })
    expect(after).not.toHaveProperty('cancelRequested')
  })

  it('the reason of the outcome goes before that of the request', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const [run] = await claim()
    await store.admin.apply({ ids: [id] }, { kind: 'cancel', reason: 'asked' }, { limit: 1 })
    await store.finish([{ lease: run!.lease, kind: 'cancelled', reason: 'stopped half-way' }])
    expect((await find(id))?.error?.message).toBe('stopped half-way')
  })
})

forEachStore('spawned jobs', (open) => {
  it('[I4] are written with the outcome', async () => {
    const { store, add, claim, find, job, clock } = await open()
    await add()
    const [run] = await claim()
    const children = [job({ task: 'child', delayMs: 500 }), job({ task: 'child', queue: 'other' })]
    await store.finish([{ ...completed(run!), spawn: children }])
    expect(await find(children[0]!.id)).toMatchObject({ task: 'child', state: 'pending', runAt: clock.now() + 500 })
    expect(await find(children[1]!.id)).toMatchObject({ queue: 'other', state: 'pending', runAt: clock.now() })
  })

  it('[I4] of a stale neighbour are not', async () => {
    const { store, job, claim, find } = await open()
    await store.enqueue([job(), job()])
    const [a, b] = await claim()
    const [mine, theirs] = [job(), job()]
    const stale = { lease: { id: a!.id, token: NO_TOKEN }, kind: 'completed', spawn: [theirs] } as const
    await store.finish([stale, { lease: b!.lease, kind: 'dead', error: failure(), spawn: [mine] }])
    expect(await find(theirs.id)).toBeUndefined()
    expect((await find(mine.id))?.state).toBe('pending')
  })

  it('that exist already stay as they are, and the outcome is written', async () => {
    const { store, add, claim, find, job } = await open()
    await add()
    const [run] = await claim()
    const known = job({ payload: '"known"', queue: 'other' })
    await store.enqueue([known])
    expect(await store.finish([{ ...completed(run!), spawn: [{ ...known, payload: '"again"' }] }])).toEqual(APPLIED)
    expect((await find(known.id))?.payload).toBe('"known"')
  })
})
