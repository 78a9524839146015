import { expect, it } from 'vitest'
import { completed } from '../src/core/outcome.ts'
import { OTHER, sessionInfo, WORKER } from './builders.ts'
import { forEachClient, refused, sendEmail } from './client.ts'

const NOW = Date.UTC(2026, 0, 1)

forEachClient('client: pause and resume', (open) => {
  it('[Q3] a paused queue gives nothing and takes everything; what runs goes on; others do not notice', async () => {
    const { jobs } = await open()
    await jobs.enqueueMany(sendEmail, [1, 2])
    const [run] = await jobs.claim('default')
    await jobs.pause('default')
    expect(await jobs.claim('default', { max: 9 })).toEqual([])
    await jobs.enqueue(sendEmail, 3)
    await jobs.enqueue(sendEmail, 4, { queue: 'other' })
    expect(await jobs.claim('other')).toHaveLength(1)
    expect(await jobs.extend(run!, '2m')).toBe(true)
    expect(await jobs.finish(run!, completed())).toBe('applied')
    await jobs.resume('default')
    expect((await jobs.claim('default', { max: 9 })).map(({ payload }) => payload)).toEqual([2, 3])
  })

  it('says by whom, why and since when; the first since stays, by and reason are the last', async () => {
    const { jobs, clock } = await open()
    const first = { by: 'ann', reason: `it's "broken" 🚂` }
    expect(await jobs.pause('mail', first)).toEqual({ name: 'mail', pending: 0, running: 0, paused: { ...first, since: NOW } })
    await clock.advance('1m')
    expect((await jobs.pause('mail', { by: 'bob' })).paused).toEqual({ by: 'bob', since: NOW })
    expect((await jobs.pause('mail')).paused).toEqual({ since: NOW })
    expect((await jobs.resume('mail')).paused).toBeUndefined()
    expect((await jobs.resume('mail')).paused).toBeUndefined()
    expect((await jobs.pause('mail')).paused).toEqual({ since: NOW + 60_000 })
  })
})

forEachClient('client: pause and resume are told', (open) => {
  it('after they were written, by whom and why', async () => {
    const { jobs } = await open()
    const heard: unknown[] = []
    jobs.on('queue.paused', (event) => heard.push(event))
    jobs.on('queue.resumed', (event) => heard.push(event))
    await jobs.pause('mail', { by: 'ann', reason: 'broken' })
    await jobs.resume('mail', { by: 'bob' })
    await jobs.resume('mail')
    expect(heard).toEqual([
      { queue: 'mail', by: 'ann', reason: 'broken', at: NOW },
      { queue: 'mail', by: 'bob', at: NOW },
      { queue: 'mail', at: NOW },
    ])
  })

  it('who is nobody is refused, and nothing happens', async () => {
    const { jobs } = await open()
    await jobs.pause('mail')
    await refused(() => jobs.resume('mail', { by: '' }), 'INVALID_NAME', /resume: by/)
    await refused(() => jobs.resume('mail', { who: 'ann' } as object), 'UNKNOWN_OPTION', /who/)
    expect((await jobs.queues())[0]?.paused).toEqual({ since: NOW })
  })
})

forEachClient('client: queues', (open) => {
  it('those with live jobs and those that something was said about, with their numbers', async () => {
    const { jobs } = await open()
    expect(await jobs.queues()).toEqual([])
    await jobs.enqueueMany(sendEmail, [1, 2, 3])
    await jobs.enqueue(sendEmail, 4, { queue: 'a', delay: '1h' })
    await jobs.claim('default')
    await jobs.pause('z', { by: 'ann' })
    const byName = Object.fromEntries((await jobs.queues()).map((queue) => [queue.name, queue]))
    expect(byName).toEqual({
      a: { name: 'a', pending: 1, running: 0 },
      default: { name: 'default', pending: 2, running: 1, waitingSince: NOW },
      z: { name: 'z', pending: 0, running: 0, paused: { by: 'ann', since: NOW } },
    })
  })
})

forEachClient('client: workers', (open) => {
  it('those that have been heard of; a client is none', async () => {
    const { jobs, store } = await open()
    await jobs.enqueue(sendEmail, 1)
    await jobs.claim('default')
    expect(await jobs.workers()).toEqual([])
    await store.beat(sessionInfo({ running: 2 }))
    await store.beat(sessionInfo({ id: OTHER, host: 'host-2' }))
    const workers = await jobs.workers()
    expect(workers.map(({ id, host, running, seenAt }) => ({ id, host, running, seenAt }))).toEqual([
      { id: WORKER, host: 'host-1', running: 2, seenAt: NOW },
      { id: OTHER, host: 'host-2', running: 0, seenAt: NOW },
    ])
    await store.beat(sessionInfo({ leaving: true }))
    expect((await jobs.workers()).map(({ id }) => id)).toEqual([OTHER])
  })
})

forEachClient('client: close', (open) => {
  it('closes the store; what is asked later is refused', async () => {
    const { jobs } = await open()
    await jobs.enqueue(sendEmail, 1)
    await jobs.close()
    await refused(() => jobs.enqueue(sendEmail, 2), 'STORE_CLOSED', /closed/)
    await refused(() => jobs.claim('default'), 'STORE_CLOSED', /closed/)
    await refused(() => jobs.list(), 'STORE_CLOSED', /closed/)
    await jobs[Symbol.asyncDispose]()
  })

  it('has nothing left to migrate', async () => {
    const { jobs } = await open()
    expect(await jobs.migrate()).toEqual([])
    expect(await jobs.migrate({ dryRun: true })).toEqual([])
  })
})
