import { expect, it } from 'vitest'
import type { JobFilter, Page } from '../src/store/admin.ts'
import { completed, failure, reclaimRequest, WORKER } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'

// All pages of a listing, each of at most `limit` jobs.
async function pages({ store }: Opened, filter: JobFilter, page: Omit<Page, 'after'>): Promise<string[][]> {
  const all: string[][] = []
  for (let after: string | undefined; ; ) {
    const { jobs, next } = await store.admin.find(filter, { ...page, ...(after === undefined ? {} : { after }) })
    all.push(jobs.map(({ id }) => id))
    if (next === undefined) return all
    expect(next).toBe(jobs.at(-1)?.id)
    after = next
  }
}

forEachStore('find', (open) => {
  it.each(['oldest', 'newest'] as const)('pages through everything once, %s first', async (order) => {
    const opened = await open()
    const { store, job, claim } = opened
    const jobs = Array.from({ length: 23 }, (_, n) => job({ priority: n % 3, queue: n % 2 ? 'default' : 'other' }))
    await store.enqueue(jobs)
    // Live and ended jobs share one order.
    await store.finish((await claim({ limit: 5 })).map((run) => completed(run)))
    const ids = jobs.map(({ id }) => id).sort()
    if (order === 'newest') ids.reverse()
    const found = await pages(opened, {}, { limit: 5, order })
    expect(found.flat()).toEqual(ids)
    expect(found.every((page) => page.length <= 5)).toBe(true)
    expect((await pages(opened, {}, { limit: 100, order })).flat()).toEqual(ids)
  })

  it('a page goes on behind a job that is gone', async () => {
    const { store, job } = await open()
    const jobs = [job(), job(), job()]
    await store.enqueue(jobs)
    const { next } = await store.admin.find({}, { limit: 1, order: 'oldest' })
    await store.admin.remove({ ids: [next!] }, { limit: 1 })
    const second = await store.admin.find({}, { limit: 1, order: 'oldest', after: next! })
    expect(second.jobs.map(({ id }) => id)).toEqual([jobs[1]!.id])
  })

  it('tells of a running job who holds it, and of no other', async () => {
    const opened = await open()
    const { store, add, claim, clock } = opened
    const session = async (): Promise<unknown> => (await store.admin.find({}, { limit: 1, order: 'oldest' })).jobs[0]?.session
    await add()
    expect(await session()).toBeUndefined()
    await claim()
    expect(await session()).toBe(WORKER)
    await clock.advance(60_000)
    const [run] = await store.reclaim(reclaimRequest({ session: OTHER_WORKER }))
    expect(await session()).toBe(OTHER_WORKER)
    await store.finish([{ lease: run!.lease, kind: 'release' }])
    expect(await session()).toBeUndefined()
    await store.finish((await claim()).map((again) => completed(again)))
    expect(await session()).toBeUndefined()
  })

  it('what is empty has one empty page', async () => {
    const { store } = await open()
    expect(await store.admin.find({}, { limit: 5, order: 'newest' })).toEqual({ jobs: [] })
  })
})

const OTHER_WORKER = '00000000-0000-7000-8000-00000000000b'

interface Named {
  readonly opened: Opened
  /** The names of the jobs that a filter lets through, in order. */
  which(filter: JobFilter): Promise<string>
  readonly t0: number
  id(name: string): string
}

// Six jobs a to f: live and ended, in two queues, of two tasks, with times a minute apart.
async function named(opened: Opened): Promise<Named> {
  const { store, job, claim, clock } = opened
  const t0 = clock.now()
  const ids: string[] = []
  const add = async (over: object): Promise<void> => {
    const one = job(over)
    ids.push(one.id)
    await store.enqueue([one])
    await clock.advance('1m')
  }
  await add({ queue: 'q1', task: 't1', priority: -10 })
  await add({ queue: 'q1', task: 't2', priority: 0 })
  await add({ queue: 'q2', task: 't1', priority: 0 })
  await add({ queue: 'q2', task: 't2', priority: 10 })
  await add({ queue: 'q3', task: 't1', priority: 10, delayMs: 3_600_000 })
  await add({ queue: 'q3', task: 't2', priority: 20 })
  const [a, b] = await claim({ queue: 'q1' })
  await store.finish([completed(a!)])
  await clock.advance('1m')
  await store.finish([{ lease: b!.lease, kind: 'dead', error: failure() }])
  await claim({ queue: 'q2', limit: 1 })
  return {
    opened,
    t0,
    id: (name) => ids['abcdef'.indexOf(name)]!,
    async which(filter) {
      const { jobs } = await store.admin.find(filter, { limit: 100, order: 'oldest' })
      return jobs.map(({ id }) => 'abcdef'[ids.indexOf(id)]).join('')
    },
  }
}

forEachStore('a filter', (open) => {
  it('by id, queue, task, state and priority', async () => {
    const { which, id, opened } = await named(await open())
    expect(await which({})).toBe('abcdef')
    expect(await which({ ids: [id('e'), id('a'), id('a'), opened.ids.next()] })).toBe('ae')
    expect(await which({ queues: ['q1', 'q3', 'none'] })).toBe('abef')
    expect(await which({ tasks: ['t1'] })).toBe('ace')
    expect(await which({ states: ['pending'] })).toBe('def')
    expect(await which({ states: ['running'] })).toBe('c')
    expect(await which({ states: ['completed', 'dead', 'timed_out', 'failed', 'cancelled'] })).toBe('ab')
    expect(await which({ states: ['dead', 'pending'] })).toBe('bdef')
    expect(await which({ priorities: [0, 20] })).toBe('bcf')
  })

  it('by times: after is inclusive, before exclusive', async () => {
    const { which, t0, opened } = await named(await open())
    const minute = 60_000
    expect(await which({ createdAfter: t0 + 2 * minute })).toBe('cdef')
    expect(await which({ createdAfter: t0 + 2 * minute + 1 })).toBe('def')
    expect(await which({ createdBefore: t0 + 2 * minute })).toBe('ab')
    expect(await which({ createdBefore: t0 + 2 * minute + 1 })).toBe('abc')
    expect(await which({ runAfter: t0 + 10 * minute })).toBe('e')
    expect(await which({ runBefore: t0 + 10 * minute })).toBe('abcdf')
    expect(await which({ endedAfter: t0 })).toBe('ab')
    expect(await which({ endedAfter: t0 + 7 * minute })).toBe('b')
    expect(await which({ endedBefore: t0 + 7 * minute })).toBe('a')
    expect(await which({ endedBefore: t0 })).toBe('')
    const { leaseUntil } = (await opened.store.admin.find({ states: ['running'] }, { limit: 1, order: 'oldest' })).jobs[0]!
    expect(await which({ leaseBefore: leaseUntil! })).toBe('')
    expect(await which({ leaseBefore: leaseUntil! + 1 })).toBe('c')
  })

  it('every condition must hold, and an empty list lets nothing through', async () => {
    const { which, id } = await named(await open())
    expect(await which({ queues: ['q1', 'q2'], tasks: ['t2'], states: ['pending'] })).toBe('d')
    expect(await which({ ids: [id('a'), id('d')], states: ['completed'] })).toBe('a')
    expect(await which({ ids: [id('a')], queues: ['q2'] })).toBe('')
    for (const empty of [{ ids: [] }, { queues: [] }, { tasks: [] }, { states: [] }, { priorities: [] }])
      expect(await which(empty)).toBe('')
  })

  it('counts what it finds, in all or by state, queue, task or priority', async () => {
    const { opened } = await named(await open())
    const { admin } = opened.store
    const count = async (...args: Parameters<typeof admin.count>): Promise<Record<string, number>> =>
      Object.fromEntries((await admin.count(...args)).map(({ key, count: number }) => [key, number]))
    expect(await count({})).toEqual({ all: 6 })
    expect(await count({ queues: ['none'] })).toEqual({ all: 0 })
    expect(await count({}, 'state')).toEqual({ completed: 1, dead: 1, running: 1, pending: 3 })
    expect(await count({}, 'queue')).toEqual({ q1: 2, q2: 2, q3: 2 })
    expect(await count({ states: ['pending'] }, 'task')).toEqual({ t1: 1, t2: 2 })
    expect(await count({ tasks: ['t2'] }, 'priority')).toEqual({ '0': 1, '10': 1, '20': 1 })
    expect(await count({ ids: [] }, 'state')).toEqual({})
  })
})
