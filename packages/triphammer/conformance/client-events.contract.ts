import { expect, it } from 'vitest'
import type { Client } from '../src/client/client.ts'
import type { Logger } from '../src/core/logger.ts'
import { cancelled, completed, dead, retry, snooze, timedOut } from '../src/core/outcome.ts'
import type { Events, EventType } from '../src/extend/events.ts'
import { forEachClient, hastyClock, losingReplies, sendEmail } from './client.ts'

const NOW = Date.UTC(2026, 0, 1)

function hear<Type extends EventType>(jobs: Client, type: Type): Events[Type][] {
  const heard: Events[Type][] = []
  jobs.on(type, (event) => heard.push(event))
  return heard
}

forEachClient('client: events', (open) => {
  it('job.enqueued: one for each job, with its status, after the write', async () => {
    const { jobs, store, ids } = await open()
    const id = ids.next()
    const found: unknown[] = []
    const looks: Promise<void>[] = []
    const events = hear(jobs, 'job.enqueued')
    // What the store answers while the event is told is not what a later look would see.
    jobs.on('job.enqueued', ({ job }) => {
      looks.push(store.admin.find({ ids: [job.id] }, { limit: 1, order: 'oldest' }).then((page) => void found.push(page.jobs[0]?.state)))
    })
    await jobs.enqueue(sendEmail, 1, { id, queue: 'mail' })
    await jobs.enqueueMany([sendEmail.with(2, { id }), sendEmail.with(3)])
    await Promise.all(looks)
    expect(found).toEqual(['pending', 'pending', 'pending'])
    const job = { id, task: 'send_email', queue: 'mail' }
    expect(events).toMatchObject([{ job, status: 'inserted', at: NOW }, { job: { id }, status: 'duplicate' }, { status: 'inserted' }])
  })

  it('job.enqueued: none for what was refused or failed, one for what had to be said twice', async () => {
    const { store, clientWith } = await open()
    const failing = clientWith({ store: { ...store, enqueue: async () => Promise.reject(new Error('full')) } })
    const none = hear(failing, 'job.enqueued')
    await expect(failing.enqueue(sendEmail, 1)).rejects.toThrow('full')
    await expect(failing.enqueue(sendEmail, Number.NaN)).rejects.toThrow('NaN')
    expect(none).toEqual([])
    const unlucky = clientWith({ store: losingReplies(store, 1), clock: hastyClock() })
    const one = hear(unlucky, 'job.enqueued')
    await unlucky.enqueue(sendEmail, 1)
    expect(one).toMatchObject([{ status: 'inserted' }])
  })

  it('job.changed: one for each job that a command changed, with what it is now', async () => {
    const { jobs } = await open()
    const [a, b] = (await jobs.enqueueMany(sendEmail, [1, 2])).map(({ id }) => id)
    await jobs.claim('default')
    const events = hear(jobs, 'job.changed')
    await jobs.cancel([a!, b!])
    await jobs.retry(b!)
    await jobs.reprioritise({ all: true }, 'high')
    await jobs.delete({ all: true }, { force: true })
    await jobs.kill(a!)
    const told = events.map(({ job, command, state }) => [job.id, command, state])
    expect(told).toEqual([
      [a, 'cancel', 'running'],
      [b, 'cancel', 'cancelled'],
      [b, 'retry', 'pending'],
      [b, 'reprioritise', 'pending'],
      [a, 'delete', 'running'],
      [b, 'delete', 'pending'],
    ])
    expect(events[0]).toMatchObject({ job: { task: 'send_email', queue: 'default' }, at: NOW })
  })

  it('the end of a run has an event of its kind; what was stale is told as lost', async () => {
    const { jobs } = await open()
    const told: unknown[] = []
    const kinds = ['completed', 'retrying', 'snoozed', 'released', 'dead', 'timed_out', 'cancelled', 'failed', 'lost'] as const
    for (const kind of kinds) jobs.on(`job.${kind}`, ({ job, at, ...rest }) => told.push([kind, rest]))
    await jobs.enqueueMany(sendEmail, [1, 2, 3, 4, 5, 6, 7])
    const [a, b, c, d, e, f, g] = await jobs.claim('default', { max: 7 })
    await jobs.finish(a!, completed({ ok: true }))
    await jobs.finish(b!, retry('no', { delay: '5s' }))
    await jobs.finish(c!, snooze('5m'))
    await jobs.finish(d!, dead('gone'))
    await jobs.finish(e!, timedOut('slow'))
    await jobs.finish(f!, cancelled('unwanted'))
    await jobs.release(g!)
    await jobs.finish(a!, completed())
    const error = (message: string): object => ({ name: 'Error', message })
    expect(told).toEqual([
      ['completed', { attempt: 1, result: '{"ok":true}' }],
      ['retrying', { attempt: 1, error: error('no'), delayMs: 5_000 }],
      ['snoozed', { attempt: 1, delayMs: 300_000 }],
      ['dead', { attempt: 1, error: error('gone') }],
      ['timed_out', { attempt: 1, error: error('slow') }],
      ['cancelled', { attempt: 1, reason: 'unwanted' }],
      ['released', { attempt: 1 }],
      ['lost', { attempt: 1 }],
    ])
  })

  it('a reclaim tells what became of the runs', async () => {
    const { jobs, clock } = await open()
    await jobs.enqueueMany([sendEmail.with(1), sendEmail.with(2, { maxAttempts: 1 })])
    await jobs.claim('default', { max: 2, lease: '1s' })
    await clock.advance('2s')
    const [retrying, died] = [hear(jobs, 'job.retrying'), hear(jobs, 'job.dead')]
    await jobs.reclaim()
    expect(retrying).toMatchObject([{ error: { code: 'LEASE_EXPIRED' }, delayMs: 0 }])
    expect(died).toMatchObject([{ error: { code: 'LEASE_EXPIRED' } }])
  })

  it('an observer that throws does no harm and is logged; one that has left hears nothing', async () => {
    const { clientWith } = await open()
    const errors: unknown[] = []
    const logger: Logger = { debug() {}, info() {}, warn() {}, error: (fields, message) => errors.push([message, fields]) }
    const jobs = clientWith({ logger })
    const heard: string[] = []
    jobs.on('job.enqueued', () => {
      throw new Error('observer')
    })
    jobs.on('job.enqueued', (async () => Promise.reject(new Error('later'))) as never)
    const leave = jobs.on('job.enqueued', () => heard.push('left'))
    jobs.on('job.enqueued', () => heard.push('stayed'))
    await jobs.enqueue(sendEmail, 1)
    leave()
    expect((await jobs.enqueue(sendEmail, 2)).status).toBe('inserted')
    expect(heard).toEqual(['left', 'stayed', 'stayed'])
    expect(errors).toHaveLength(4)
    expect(errors[0]).toEqual(['an observer threw; the event itself stands', { event: 'job.enqueued', error: new Error('observer') }])
  })
})
