import { expect, it } from 'vitest'
import { type JobState, STATES } from '../src/core/state.ts'
import type { AdminCommand } from '../src/store/admin.ts'
import { completed, failure, OTHER } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'

const KILL: AdminCommand = { kind: 'kill', error: failure('killed') }
const FAIL: AdminCommand = { kind: 'fail', error: failure('failed') }

/** For each command: the states it applies to, and what becomes of them. */
const TABLE: readonly (readonly [string, AdminCommand, Partial<Record<JobState, JobState>>])[] = [
  [
    'retry',
    { kind: 'retry' },
    { pending: 'pending', running: 'pending', dead: 'pending', timed_out: 'pending', failed: 'pending', cancelled: 'pending' },
  ],
  ['kill', KILL, { pending: 'dead', running: 'dead', failed: 'dead', timed_out: 'dead' }],
  ['fail', FAIL, { pending: 'failed', running: 'failed' }],
  ['cancel', { kind: 'cancel' }, { pending: 'cancelled', running: 'running' }],
  ['forced cancel', { kind: 'cancel', force: true }, { pending: 'cancelled', running: 'cancelled' }],
  ['reschedule', { kind: 'reschedule', delayMs: 1_000 }, { pending: 'pending' }],
  ['reprioritise', { kind: 'reprioritise', priority: 7 }, { pending: 'pending' }],
]

// A job in this state.
async function jobIn({ store, add, claim }: Opened, state: JobState): Promise<string> {
  const queue = `in ${state}`
  const id = await add({ queue })
  if (state === 'pending') return id
  const [run] = await claim({ queue })
  if (state !== 'running') await store.finish([{ lease: run!.lease, kind: state, error: failure('earlier') }])
  return id
}

forEachStore('apply', (open) => {
  const cells = TABLE.flatMap(([name, command, to]) => STATES.map((from) => [name, from, command, to[from]] as const))

  it.each(cells)('%s of a job that is %s', async (_, from, command, to) => {
    const opened = await open()
    const { store, find } = opened
    const id = await jobIn(opened, from)
    const before = await find(id)
    const ref = { id, task: 'send_email', queue: `in ${from}` }
    const applied = await store.admin.apply({ ids: [id] }, command, { limit: 10 })
    if (to === undefined) {
      expect(applied).toEqual({ changed: [], refused: [{ ...ref, state: from }] })
      expect(await find(id)).toEqual(before)
    } else {
      expect(applied).toEqual({ changed: [{ ...ref, state: to }], refused: [] })
      expect((await find(id))?.state).toBe(to)
    }
  })

  it('[I3] what takes a running job away ends its lease: whoever held it has lost it', async () => {
    const opened = await open()
    const { store, claim, add, find } = opened
    const taking: readonly AdminCommand[] = [{ kind: 'retry' }, KILL, FAIL, { kind: 'cancel', force: true }]
    for (const command of taking) {
      const queue = command.kind
      const id = await add({ queue })
      const [run] = await claim({ queue })
      await store.admin.apply({ ids: [id] }, command, { limit: 1 })
      expect(await find(id)).not.toHaveProperty('leaseUntil')
      const after = await find(id)
      expect(await store.extend([run!.lease], { leaseMs: 60_000 })).toEqual([{ state: 'lost' }])
      expect((await store.finish([completed(run!)]))[0]?.state).toBe('stale')
      expect(await find(id)).toEqual(after)
    }
  })

  it('retry of a running job keeps the attempt; it is claimed anew, under a new token', async () => {
    const { store, add, claim, find, clock } = await open()
    const id = await add()
    const [first] = await claim()
    await clock.advance(1_000)
    await store.admin.apply({ ids: [id] }, { kind: 'retry' }, { limit: 1 })
    expect(await find(id)).toMatchObject({ state: 'pending', attempt: 1, runAt: clock.now() })
    const [second] = await claim({ session: OTHER })
    expect(second?.attempt).toBe(2)
    expect(second?.lease.token).not.toBe(first?.lease.token)
  })

  it('retry of a running job forgets that a cancel was requested', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    await claim()
    await store.admin.apply({ ids: [id] }, { kind: 'cancel' }, { limit: 1 })
    await store.admin.apply({ ids: [id] }, { kind: 'retry' }, { limit: 1 })
    expect(await find(id)).not.toHaveProperty('cancelRequested')
    const [run] = await claim()
    expect(run).not.toHaveProperty('cancelRequested')
    expect((await store.finish([completed(run!)]))[0]?.state).toBe('applied')
  })

  it.each(['dead', 'timed_out', 'failed', 'cancelled'] as const)(
    'retry of a %s job resets the attempts and keeps the error',
    async (state) => {
      const opened = await open()
      const { store, find, clock } = opened
      const id = await jobIn(opened, state)
      const error = (await find(id))?.error
      expect(error).toBeDefined()
      await clock.advance(5_000)
      await store.admin.apply({ ids: [id] }, { kind: 'retry' }, { limit: 1 })
      const record = await find(id)
      expect(record).toMatchObject({ state: 'pending', attempt: 0, runAt: clock.now(), error })
      for (const gone of ['startedAt', 'endedAt', 'leaseUntil']) expect(record).not.toHaveProperty(gone)
    },
  )

  it("[I5] at a moment, or after a delay by the store's clock", async () => {
    const opened = await open()
    const { store, find, clock } = opened
    const at = clock.now() + 99_000
    for (const kind of ['retry', 'reschedule'] as const) {
      const id = await jobIn(opened, 'pending')
      const runAt = async (command: AdminCommand): Promise<number | undefined> => {
        await store.admin.apply({ ids: [id] }, command, { limit: 1 })
        return (await find(id))?.runAt
      }
      expect(await runAt({ kind, at })).toBe(at)
      expect(await runAt({ kind, delayMs: 7_000 })).toBe(clock.now() + 7_000)
      await clock.advance(10)
      expect(await runAt({ kind })).toBe(clock.now())
    }
  })

  it('reschedule and reprioritise move the job in the order of claims', async () => {
    const { store, job, claim } = await open()
    const [a, b, c] = [job(), job(), job()]
    await store.enqueue([a, b, c])
    await store.admin.apply({ ids: [a.id] }, { kind: 'reschedule', delayMs: 60_000 }, { limit: 1 })
    await store.admin.apply({ ids: [c.id] }, { kind: 'reprioritise', priority: -1 }, { limit: 1 })
    expect((await claim()).map(({ id, priority }) => [id, priority])).toEqual([
      [c.id, -1],
      [b.id, 0],
    ])
  })

  it('kill and fail end the job with the given error, now', async () => {
    const opened = await open()
    const { store, find, clock } = opened
    for (const [command, message] of [
      [KILL, 'killed'],
      [FAIL, 'failed'],
    ] as const) {
      const ids = [await jobIn(opened, 'pending'), await jobIn(opened, 'running')]
      await clock.advance(1_000)
      await store.admin.apply({ ids }, command, { limit: 10 })
      for (const id of ids) expect(await find(id)).toMatchObject({ endedAt: clock.now(), error: failure(message) })
    }
  })

  it('cancel keeps the reason; forced, that of an earlier request if it has none', async () => {
    const opened = await open()
    const { store, find } = opened
    const [waiting, running] = [await jobIn(opened, 'pending'), await jobIn(opened, 'running')]
    const cancel = (id: string, rest: object): Promise<unknown> =>
      store.admin.apply({ ids: [id] }, { kind: 'cancel', ...rest }, { limit: 1 })
    await cancel(waiting, { reason: 'obsolete' })
    expect((await find(waiting))?.error).toEqual({ name: 'Cancelled', code: 'CANCELLED', message: 'obsolete' })
    await cancel(running, { reason: 'asked' })
    expect(await find(running)).toMatchObject({ state: 'running', cancelRequested: true })
    await cancel(running, { force: true })
    expect(await find(running)).toMatchObject({ state: 'cancelled', error: { message: 'asked' } })
  })

  it('goes through a filter in slices, oldest first, each job looked at once', async () => {
    const { store, job, claim } = await open()
    const jobs = Array.from({ length: 11 }, () => job())
    await store.enqueue(jobs)
    const [running] = await claim({ limit: 1 })
    const looked: string[] = []
    const changed: string[] = []
    for (let after: string | undefined; ; ) {
      const slice = { limit: 4, ...(after === undefined ? {} : { after }) }
      const applied = await store.admin.apply({ queues: ['default'] }, { kind: 'reprioritise', priority: 3 }, slice)
      const seen = [...applied.changed, ...applied.refused].map(({ id }) => id).sort()
      expect(seen.length).toBeLessThanOrEqual(4)
      looked.push(...seen)
      changed.push(...applied.changed.map(({ id }) => id))
      if (applied.next === undefined) break
      after = applied.next
    }
    expect(looked).toEqual(jobs.map(({ id }) => id))
    expect(changed).toEqual(jobs.map(({ id }) => id).filter((id) => id !== running!.id))
  })

  it('what does not exist is neither changed nor refused', async () => {
    const { store, ids } = await open()
    expect(await store.admin.apply({ ids: [ids.next()] }, KILL, { limit: 10 })).toEqual({ changed: [], refused: [] })
  })

  it('[I4] in a transaction it is rolled back or committed with it', async () => {
    const opened = await open()
    const { store, find } = opened
    const id = await jobIn(opened, 'running')
    const failing = store.transaction(async (tx) => {
      expect((await store.admin.apply({ ids: [id] }, KILL, { limit: 1 }, tx)).changed).toMatchObject([{ id, state: 'dead' }])
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect((await find(id))?.state).toBe('running')
    await store.transaction((tx) => store.admin.apply({ ids: [id] }, KILL, { limit: 1 }, tx))
    expect((await find(id))?.state).toBe('dead')
  })
})

forEachStore('remove', (open) => {
  it.each(STATES)('a job that is %s', async (state) => {
    const opened = await open()
    const { store, find } = opened
    const id = await jobIn(opened, state)
    const ref = { id, task: 'send_email', queue: `in ${state}`, state }
    const removed = await store.admin.remove({ ids: [id] }, { limit: 10 })
    const isRefused = state === 'running'
    expect(removed).toEqual(isRefused ? { changed: [], refused: [ref] } : { changed: [ref], refused: [] })
    expect((await find(id)) === undefined).toBe(!isRefused)
  })

  it('[I3] with force a running one too: its holder has lost it', async () => {
    const { store, add, claim, find } = await open()
    const id = await add()
    const [run] = await claim()
    expect((await store.admin.remove({ ids: [id] }, { limit: 1, force: true })).changed).toMatchObject([{ id }])
    expect(await find(id)).toBeUndefined()
    expect(await store.extend([run!.lease], { leaseMs: 1_000 })).toEqual([{ state: 'lost' }])
    expect((await store.finish([completed(run!)]))[0]?.state).toBe('stale')
    expect(await find(id)).toBeUndefined()
  })

  it('a removed job is not claimed, and its id is free again', async () => {
    const { store, job, claim } = await open()
    const mine = job({ repeat: true })
    await store.enqueue([mine])
    await store.admin.remove({ ids: [mine.id] }, { limit: 1 })
    expect(await claim()).toEqual([])
    expect(await store.enqueue([mine])).toEqual([{ id: mine.id, status: 'inserted' }])
  })

  it('goes through a filter in slices', async () => {
    const { store, job, add } = await open()
    await store.enqueue(Array.from({ length: 7 }, () => job({ queue: 'old' })))
    await add()
    let removed = 0
    for (let after: string | undefined; ; ) {
      const applied = await store.admin.remove({ queues: ['old'] }, { limit: 3, ...(after === undefined ? {} : { after }) })
      expect(applied.changed.length).toBeLessThanOrEqual(3)
      removed += applied.changed.length
      if (applied.next === undefined) break
      after = applied.next
    }
    expect(removed).toBe(7)
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 1 }])
  })
})
