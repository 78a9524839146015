import { expect, it } from 'vitest'
import type { JobFilterInput } from '../src/client/filter.ts'
import type { ListOptions } from '../src/client/operate.ts'
import { completed, dead, timedOut } from '../src/core/outcome.ts'
import { fixed } from '../src/core/retry.ts'
import { defineTask } from '../src/core/task.ts'
import { forEachClient, type OpenedClient, sendEmail } from './client.ts'

const NOW = Date.UTC(2026, 0, 1)
const NOBODY = '01890a5d-ac96-774b-bcce-b302099a8057'
const resize = defineTask('resize', { queue: 'images' })

async function listAll({ jobs }: OpenedClient, filter: JobFilterInput, options: ListOptions): Promise<string[][]> {
  const pages: string[][] = []
  for (let after: string | undefined; ; ) {
    const page = await jobs.list(filter, { ...options, ...(after === undefined ? {} : { after }) })
    pages.push(page.jobs.map(({ id }) => id))
    expect(pages.length, 'the pages come to an end').toBeLessThan(20)
    if (page.next === undefined) return pages
    after = page.next
  }
}

forEachClient('client: get', (open) => {
  it('a job as people see it, and nobody there is undefined', async () => {
    const { jobs } = await open()
    const { id } = await jobs.enqueue(sendEmail, { to: ['ä', { b: null }] }, { delay: '1h', priority: 'low', maxAttempts: 7 })
    const expected = {
      id,
      task: 'send_email',
      queue: 'default',
      state: 'pending',
      waitsFor: 'time',
      payload: { to: ['ä', { b: null }] },
      priority: 10,
      attempt: 0,
      maxAttempts: 7,
      createdAt: new Date(NOW),
      runAt: new Date(NOW + 3_600_000),
    }
    expect(await jobs.get(id)).toEqual(expected)
    expect(await jobs.get(id.toUpperCase())).toEqual(expected)
    expect(await jobs.get(NOBODY)).toBeUndefined()
  })

  it('the policy that is its own, and while it runs who holds it', async () => {
    const { jobs } = await open()
    const own = { timeout: '90s', retry: fixed('5s'), retain: false } as const
    const { id } = await jobs.enqueue(sendEmail, 1, own)
    const policy = { timeoutMs: 90_000, retry: fixed('5s'), retainMs: 0 }
    expect(await jobs.get(id)).toMatchObject(policy)
    expect(await jobs.get(id)).not.toHaveProperty('session')
    const [run] = await jobs.claim('default')
    expect(await jobs.get(id)).toMatchObject({ ...policy, session: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    await jobs.release(run!)
    expect(await jobs.get(id)).not.toHaveProperty('session')
  })
})

forEachClient('client: list', (open) => {
  it('pages through 250 jobs in both orders, each once', async () => {
    const opened = await open()
    const { jobs } = opened
    const made = (
      await jobs.enqueueMany(
        sendEmail,
        Array.from({ length: 250 }, (_, n) => n),
      )
    ).map(({ id }) => id)
    const newest = await listAll(opened, {}, {})
    expect(newest.map(({ length }) => length)).toEqual([100, 100, 50])
    expect(newest.flat()).toEqual([...made].reverse())
    const oldest = await listAll(opened, {}, { order: 'oldest', limit: 60 })
    expect(oldest.map(({ length }) => length)).toEqual([60, 60, 60, 60, 10])
    expect(oldest.flat()).toEqual(made)
    expect((await listAll(opened, {}, { limit: 1_000 })).map(({ length }) => length)).toEqual([250])
  })

  it('goes on behind an id, also one that is gone, while jobs come and go', async () => {
    const { jobs } = await open()
    const made = (await jobs.enqueueMany(sendEmail, [0, 1, 2, 3, 4, 5])).map(({ id }) => id)
    const first = await jobs.list({}, { limit: 2 })
    expect(first.jobs.map(({ payload }) => payload)).toEqual([5, 4])
    await jobs.enqueue(sendEmail, 6)
    await jobs.delete([made[4]!, made[3]!])
    const second = await jobs.list({}, { limit: 2, after: first.next! })
    expect(second.jobs.map(({ payload }) => payload)).toEqual([2, 1])
    expect((await jobs.list({}, { order: 'oldest', after: made[3]! })).jobs.map(({ payload }) => payload)).toEqual([5, 6])
  })

  it('every condition of a filter counts, in lists and in figures', async () => {
    const { jobs, clock } = await open()
    const [a, b] = (await jobs.enqueueMany(sendEmail, ['a', 'b'], { priority: 'high' })).map(({ id }) => id)
    await clock.advance('1m')
    const { id: c } = await jobs.enqueue(resize, 'c', { delay: '1h' })
    const { id: d } = await jobs.enqueue(resize, 'd', { priority: 3 })
    const { id: e } = await jobs.enqueue(sendEmail, 'e')
    const [runA, runB] = await jobs.claim('default', { max: 2 })
    await jobs.finish(runA!, dead('no'))
    await clock.advance('1m')
    await jobs.finish(runB!, completed())
    await jobs.claim('images')

    const cases: readonly (readonly [JobFilterInput, readonly (string | undefined)[]])[] = [
      [{}, [a, b, c, d, e]],
      [{ all: true }, [a, b, c, d, e]],
      [{ id: a! }, [a]],
      [{ id: [a!, c, NOBODY] }, [a, c]],
      [{ id: [] }, []],
      [{ queue: 'images' }, [c, d]],
      [{ queue: ['images', 'default'] }, [a, b, c, d, e]],
      [{ queue: [] }, []],
      [{ task: 'send_email' }, [a, b, e]],
      [{ task: resize }, [c, d]],
      [{ task: [resize, 'send_email'] }, [a, b, c, d, e]],
      [{ state: 'dead' }, [a]],
      [{ state: 'unsuccessful' }, [a]],
      [{ state: ['pending', 'completed'] }, [b, c, e]],
      [{ state: 'running' }, [d]],
      [{ priority: 'high' }, [a, b]],
      [{ priority: [3, 'normal'] }, [c, d, e]],
      [{ createdBefore: NOW + 60_000 }, [a, b]],
      [{ createdAfter: new Date(NOW + 60_000) }, [c, d, e]],
      [{ runBefore: NOW + 60_001 }, [a, b, d, e]],
      [{ runAfter: '2026-01-01T01:00:00Z' }, [c]],
      [{ endedBefore: NOW + 120_000 }, [a]],
      [{ endedAfter: NOW + 120_000 }, [b]],
      [{ endedAfter: NOW, endedBefore: NOW + 120_001 }, [a, b]],
      [{ task: 'send_email', state: 'pending', priority: 0 }, [e]],
      [{ queue: 'images', priority: 'high' }, []],
    ]
    for (const [filter, expected] of cases) {
      const { jobs: found } = await jobs.list(filter, { order: 'oldest' })
      expect([filter, found.map(({ id }) => id)]).toEqual([filter, expected])
      expect([filter, await jobs.count(filter)]).toEqual([filter, expected.length])
    }
  })

  it('unsuccessful is dead, timed out and failed, not cancelled', async () => {
    const { jobs } = await open()
    const [first, second, third, fourth] = (await jobs.enqueueMany(sendEmail, [1, 2, 3, 4])).map(({ id }) => id)
    const [one, two] = await jobs.claim('default', { max: 2 })
    await jobs.finish(one!, dead())
    await jobs.finish(two!, timedOut())
    await jobs.failed(third!)
    await jobs.cancel(fourth!)
    expect((await jobs.list({ state: 'unsuccessful' }, { order: 'oldest' })).jobs.map(({ id }) => id)).toEqual([first, second, third])
  })

  it('says what a pending job waits for', async () => {
    const { jobs, clock } = await open()
    await jobs.enqueueMany([sendEmail.with('time', { delay: '1m' }), sendEmail.with('retry'), sendEmail.with('worker')])
    const [run] = await jobs.claim('default')
    await jobs.fail(run!, 'no')
    const waits = async (): Promise<unknown> => (await jobs.list()).jobs.map(({ payload, waitsFor }) => [payload, waitsFor])
    expect(await waits()).toEqual([
      ['worker', 'worker'],
      ['retry', 'retry'],
      ['time', 'time'],
    ])
    await clock.advance('1h')
    expect(new Set((await jobs.list()).jobs.map(({ waitsFor }) => waitsFor))).toEqual(new Set(['worker']))
  })
})

forEachClient('client: countBy', (open) => {
  it('state, queue, task and priority; what no job has is absent', async () => {
    const { jobs } = await open()
    await jobs.enqueueMany([
      sendEmail.with(1),
      sendEmail.with(2, { priority: 'low' }),
      resize.with(3),
      resize.with(4, { queue: '__proto__' }),
    ])
    await jobs.claim('images')
    expect(await jobs.countBy('state')).toEqual({ pending: 3, running: 1 })
    expect(await jobs.countBy('task')).toEqual({ resize: 2, send_email: 2 })
    expect(await jobs.countBy('priority')).toEqual({ '0': 3, '10': 1 })
    expect(Object.entries(await jobs.countBy('queue')).sort()).toEqual([
      ['__proto__', 1],
      ['default', 2],
      ['images', 1],
    ])
    expect(await jobs.countBy('task', { queue: 'default' })).toEqual({ send_email: 2 })
    expect(await jobs.countBy('state', { queue: 'nowhere' })).toEqual({})
    expect(await jobs.count({ queue: 'nowhere' })).toBe(0)
  })
})
