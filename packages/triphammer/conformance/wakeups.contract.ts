import { expect, it } from 'vitest'
import { failure } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'
import { listen } from './listener.ts'

type Cause = readonly [string, (opened: Opened) => Promise<() => Promise<unknown>>]

// Each sets something up and returns what is to wake.
const CAUSES: readonly Cause[] = [
  [
    'an enqueue',
    async ({ add }) =>
      () =>
        add(),
  ],
  [
    'an enqueue of many',
    async ({ store, job }) =>
      () =>
        store.enqueue(Array.from({ length: 60 }, () => job())),
  ],
  [
    'a release',
    async ({ store, add, claim }) => {
      await add()
      const [run] = await claim()
      return () => store.finish([{ lease: run!.lease, kind: 'release' }])
    },
  ],
  [
    'a retry without delay',
    async ({ store, add, claim }) => {
      await add()
      const [run] = await claim()
      return () => store.finish([{ lease: run!.lease, kind: 'retry', error: failure(), delayMs: 0 }])
    },
  ],
  [
    'a resume',
    async ({ store, add }) => {
      await store.admin.setQueue('default', { paused: {} })
      await add()
      return () => store.admin.setQueue('default', { paused: null })
    },
  ],
  [
    'a retry by a person',
    async ({ store, add }) => {
      const id = await add()
      await store.admin.apply({ ids: [id] }, { kind: 'kill', error: failure() }, { limit: 1 })
      return () => store.admin.apply({ ids: [id] }, { kind: 'retry' }, { limit: 1 })
    },
  ],
  [
    'a reschedule to now',
    async ({ store, add }) => {
      const id = await add({ delayMs: 60_000 })
      return () => store.admin.apply({ ids: [id] }, { kind: 'reschedule' }, { limit: 1 })
    },
  ],
  [
    'the commit of an enqueue',
    async ({ store, job }) =>
      () =>
        store.transaction((tx) => store.enqueue([job()], tx)),
  ],
  [
    'a spawned job',
    async ({ store, add, claim, job }) => {
      await add({ queue: 'other' })
      const [run] = await claim({ queue: 'other' })
      return () => store.finish([{ lease: run!.lease, kind: 'completed', spawn: [job()] }])
    },
  ],
]

// Everything that what went before has set off has happened.
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

forEachStore(
  'wakeups',
  (open) => {
    it.each(CAUSES)('%s wakes, and the job can be claimed then', async (_, prepare) => {
      const opened = await open()
      const cause = await prepare(opened)
      await settled()
      const listener = listen(opened.store, ['default'])
      const woken = listener.next()
      await cause()
      await woken
      expect(await opened.claim({ limit: 1 })).toHaveLength(1)
    })

    it('of one of several queues', async () => {
      const opened = await open()
      const listener = listen(opened.store, ['a', 'b'])
      for (const queue of ['b', 'a']) {
        const woken = listener.next()
        await opened.add({ queue })
        await woken
      }
      expect(listener.count).toBeGreaterThanOrEqual(2)
    })

    it('each subscription by itself, until it ends', async () => {
      const opened = await open()
      const [first, second] = [listen(opened.store, ['default']), listen(opened.store, ['default'])]
      const both = Promise.all([first.next(), second.next()])
      await opened.add()
      await both
      first.stop()
      first.stop()
      const before = first.count
      const woken = second.next()
      await opened.add()
      await woken
      await settled()
      expect(first.count).toBe(before)
    })

    it('nothing wakes once the subscription has ended, not even what happened before', async () => {
      const opened = await open()
      const listener = listen(opened.store, ['default'])
      const adding = opened.add()
      listener.stop()
      await adding
      await settled()
      expect(listener.count).toBe(0)
    })

    it('many jobs in one call are not many wake-ups', async () => {
      const opened = await open()
      const listener = listen(opened.store, ['default'])
      const woken = listener.next()
      await opened.store.enqueue(Array.from({ length: 200 }, () => opened.job()))
      await woken
      await settled()
      expect(listener.count).toBeLessThan(10)
    })

    it('nothing that was rolled back can be claimed, woken or not', async () => {
      const opened = await open()
      const { store, job, claim } = opened
      const failing = store.transaction(async (tx) => {
        await store.enqueue([job()], tx)
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await claim()).toEqual([])
    })
  },
  { needs: ['wakeups'] },
)
