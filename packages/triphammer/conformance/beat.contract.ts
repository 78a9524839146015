import { expect, it } from 'vitest'
import type { AdminCommand } from '../src/store/admin.ts'
import { completed, failure, OTHER, reclaimRequest, sessionInfo, WORKER } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'

forEachStore('beat', (open) => {
  it('registers the session, and lists what it said', async () => {
    const { store, clock } = await open()
    const info = sessionInfo({ queues: ['default', 'mail'], running: 2, held: 5, idle: ['mail'] })
    expect(await store.beat(info)).toEqual({ changes: 0, paused: [], wanted: [] })
    expect(await store.admin.sessions()).toEqual([{ ...info, seenAt: clock.now() }])
  })

  it('the last word counts, and is at most 15 s old', async () => {
    const { store, clock } = await open()
    await store.beat(sessionInfo())
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000)
      await store.beat(sessionInfo({ running: second }))
    }
    const [record, ...others] = await store.admin.sessions()
    expect(others).toEqual([])
    expect(clock.now() - record!.seenAt).toBeLessThanOrEqual(15_000)
  })

  it('a session that leaves is gone', async () => {
    const { store } = await open()
    await store.beat(sessionInfo())
    await store.beat(sessionInfo({ id: OTHER }))
    await store.beat(sessionInfo({ leaving: true }))
    expect((await store.admin.sessions()).map(({ id }) => id)).toEqual([OTHER])
  })

  it('tells which of its queues are paused', async () => {
    const { store } = await open()
    const info = sessionInfo({ queues: ['a', 'b', 'c'] })
    for (const name of ['b', 'elsewhere']) await store.admin.setQueue(name, { paused: {} })
    expect((await store.beat(info)).paused).toEqual(['b'])
    await store.admin.setQueue('b', { paused: null })
    expect((await store.beat(info)).paused).toEqual([])
  })

  it('tells in which of its queues another live session is idle', async () => {
    const { store, clock } = await open()
    const mine = sessionInfo({ queues: ['a', 'b'], idle: ['a'] })
    const theirs = sessionInfo({ id: OTHER, queues: ['b', 'c'], idle: ['b', 'c'] })
    expect((await store.beat(mine)).wanted).toEqual([])
    await store.beat(theirs)
    expect((await store.beat(mine)).wanted).toEqual(['b'])
    await store.beat({ ...theirs, idle: [] })
    // A store may write down only some of the pulses, at least one in 15 s.
    await clock.advance(15_000)
    await store.beat({ ...theirs, idle: [] })
    expect((await store.beat(mine)).wanted).toEqual([])
  })

  it('a session that left, or was not heard of for 30 s, waits for nothing', async () => {
    const { store, clock } = await open()
    const mine = sessionInfo({ queues: ['a'] })
    const theirs = sessionInfo({ id: OTHER, queues: ['a'], idle: ['a'] })
    await store.beat(theirs)
    await clock.advance(29_000)
    expect((await store.beat(mine)).wanted).toEqual(['a'])
    await clock.advance(2_000)
    expect((await store.beat(mine)).wanted).toEqual([])
    await store.beat(theirs)
    expect((await store.beat(mine)).wanted).toEqual(['a'])
    await store.beat({ ...theirs, leaving: true })
    expect((await store.beat(mine)).wanted).toEqual([])
  })
})

type Disturbance = readonly [string, (opened: Opened, id: string) => Promise<unknown>]

const command =
  (command: AdminCommand) =>
  ({ store }: Opened, id: string): Promise<unknown> =>
    store.admin.apply({ ids: [id] }, command, { limit: 1 })

const DISTURBANCES: readonly Disturbance[] = [
  ['a requested cancel', command({ kind: 'cancel' })],
  ['a forced cancel', command({ kind: 'cancel', force: true })],
  ['a retry', command({ kind: 'retry' })],
  ['a kill', command({ kind: 'kill', error: failure() })],
  ['a fail', command({ kind: 'fail', error: failure() })],
  ['a forced removal', ({ store }, id) => store.admin.remove({ ids: [id] }, { limit: 1, force: true })],
  [
    'a reclaim by another',
    async ({ store, clock }) => {
      await clock.advance(60_000)
      return store.reclaim(reclaimRequest())
    },
  ],
]

forEachStore('changes', (open) => {
  it.each(DISTURBANCES)('[I3] %s of a running job is counted for its session', async (_, disturb) => {
    const opened = await open()
    const { store, add, claim } = opened
    const changes = async (id = WORKER): Promise<number> => (await store.beat(sessionInfo({ id }))).changes
    const id = await add()
    await claim()
    const [mine, theirs] = [await changes(), await changes(OTHER)]
    await disturb(opened, id)
    expect(await changes()).toBeGreaterThan(mine)
    expect(await changes(OTHER)).toBe(theirs)
  })

  it('what a session does itself, and what happens to other jobs, is not counted', async () => {
    const { store, job, claim, find, clock } = await open()
    const changes = async (): Promise<number> => (await store.beat(sessionInfo())).changes
    const before = await changes()
    const [waiting] = [job({ queue: 'other' })]
    await store.enqueue([job(), job(), job(), waiting!])
    const [a, b, c] = await claim({ limit: 3, leaseMs: 1_000 })
    await store.finish([completed(a!), { lease: b!.lease, kind: 'release' }])
    await store.extend([c!.lease], { leaseMs: 1_000 })
    await clock.advance(1_000)
    await store.reclaim(reclaimRequest({ session: WORKER }))
    await store.admin.apply({ ids: [waiting!.id] }, { kind: 'cancel' }, { limit: 1 })
    await store.admin.apply({ ids: [a!.id] }, { kind: 'kill', error: failure() }, { limit: 1 })
    await store.admin.remove({ ids: [c!.id] }, { limit: 1 })
    expect((await find(c!.id))?.state).toBe('running')
    expect(await changes()).toBe(before)
  })

  it('is not lost when it comes before the first pulse', async () => {
    const { store, add, claim } = await open()
    const id = await add()
    await claim()
    await store.admin.apply({ ids: [id] }, { kind: 'cancel' }, { limit: 1 })
    expect((await store.beat(sessionInfo())).changes).toBeGreaterThan(0)
  })

  it('asking does not reset it', async () => {
    const { store, add, claim } = await open()
    const id = await add()
    await claim()
    await store.admin.apply({ ids: [id] }, { kind: 'cancel' }, { limit: 1 })
    const first = await store.beat(sessionInfo())
    expect((await store.beat(sessionInfo())).changes).toBe(first.changes)
  })

  it('[I4] a rolled back command is not counted, a committed one is', async () => {
    const { store, add, claim } = await open()
    const id = await add()
    await claim()
    const changes = async (): Promise<number> => (await store.beat(sessionInfo())).changes
    const before = await changes()
    const kill = { kind: 'kill', error: failure() } as const
    const failing = store.transaction(async (tx) => {
      await store.admin.apply({ ids: [id] }, kill, { limit: 1 }, tx)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await changes()).toBe(before)
    await store.transaction((tx) => store.admin.apply({ ids: [id] }, kill, { limit: 1 }, tx))
    expect(await changes()).toBeGreaterThan(before)
  })
})
