import { expect, it } from 'vitest'
import type { ClaimedRun } from '../src/client/job.ts'
import { completed, discard, retryAfter, snooze } from '../src/core/outcome.ts'
import { fixed, linear } from '../src/core/retry.ts'
import type { EnqueueOptions } from '../src/core/task.ts'
import { forEachClient, type OpenedClient, sendEmail } from './client.ts'

const NOW = Date.UTC(2026, 0, 1)

async function claimOne({ jobs }: OpenedClient, options: EnqueueOptions = {}): Promise<ClaimedRun> {
  await jobs.enqueue(sendEmail, 1, options)
  return (await jobs.claim('default'))[0]!
}

forEachClient('client: fail', (open) => {
  it("waits by the job's policy until the attempts are used up; then the job is dead", async () => {
    const opened = await open()
    const { jobs, clock } = opened
    let run: ClaimedRun | undefined = await claimOne(opened, { retry: linear({ base: '10s', increment: '5s' }), maxAttempts: 3 })
    const { id } = run
    for (const [attempt, wait] of [10_000, 15_000].entries()) {
      expect(run).toMatchObject({ id, attempt: attempt + 1 })
      const now = clock.now()
      expect(await jobs.fail(run!, new RangeError(`no ${attempt}`))).toBe('applied')
      const error = expect.objectContaining({ name: 'RangeError', message: `no ${attempt}` })
      expect(await jobs.get(id)).toMatchObject({ state: 'pending', waitsFor: 'retry', runAt: new Date(now + wait), error })
      await clock.advance(wait - 1)
      expect(await jobs.claim('default')).toEqual([])
      await clock.advance(1)
      ;[run] = await jobs.claim('default')
    }
    expect(await jobs.fail(run!, 'the last')).toBe('applied')
    expect(await jobs.get(id)).toMatchObject({ state: 'dead', attempt: 3, error: { name: 'Error', message: 'the last' } })
  })

  it('without a policy: 2 s, doubled, ±20 %', async () => {
    const opened = await open()
    const { jobs, clock } = opened
    let run = await claimOne(opened)
    for (const wait of [2_000, 4_000, 8_000]) {
      await jobs.fail(run, 'no')
      const waited = Number((await jobs.get(run.id))!.runAt) - clock.now()
      expect(waited).toBeGreaterThanOrEqual(wait * 0.8)
      expect(waited).toBeLessThanOrEqual(wait * 1.2)
      await clock.advance(waited)
      run = (await jobs.claim('default'))[0]!
    }
  })

  it('some errors have a policy of their own', async () => {
    const opened = await open()
    const { jobs } = opened
    const options: EnqueueOptions = { retry: fixed('1m', { errors: { ECONNRESET: fixed('3s'), TypeError: 'dead' } }) }
    const reset = await claimOne(opened, options)
    await jobs.fail(reset, Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    expect(await jobs.get(reset.id)).toMatchObject({ state: 'pending', runAt: new Date(NOW + 3_000), error: { code: 'ECONNRESET' } })
    const wrong = await claimOne(opened, options)
    await jobs.fail(wrong, new TypeError('wrong'))
    expect(await jobs.get(wrong.id)).toMatchObject({ state: 'dead', attempt: 1 })
  })

  it('what was thrown decides where it says so: snooze, discard, retryAfter', async () => {
    const opened = await open()
    const { jobs } = opened
    const [snoozed, discarded, later] = [await claimOne(opened), await claimOne(opened), await claimOne(opened)]
    await jobs.fail(snoozed, snooze('5m'))
    await jobs.fail(discarded, discard('never'))
    await jobs.fail(later, retryAfter('30s'))
    expect(await jobs.get(snoozed.id)).toMatchObject({ state: 'pending', attempt: 0, runAt: new Date(NOW + 300_000) })
    expect(await jobs.get(discarded.id)).toMatchObject({ state: 'dead', error: { message: 'never' } })
    expect(await jobs.get(later.id)).toMatchObject({ state: 'pending', attempt: 1, runAt: new Date(NOW + 30_000) })
  })

  const unprintable = Object.create(null) as object
  const throwing = Object.defineProperty({}, 'message', {
    enumerable: true,
    get() {
      throw new Error('no')
    },
  })
  const hostile: readonly (readonly [string, unknown])[] = [
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('why')],
    ['a bigint', 10n],
    ['a function', () => {}],
    ['an object without a prototype', unprintable],
    ['an object as the message', { message: unprintable }],
    ['a getter that throws', throwing],
    ['toJSON that gives nothing', { toJSON: () => undefined }],
    ['U+0000 and half of a character', new Error('a\u0000b\ud800')],
    ['a megabyte', new Error('x'.repeat(1_000_000))],
  ]
  it.each(hostile)('whatever was thrown, the run ends: %s', async (_, thrown) => {
    const opened = await open()
    const { jobs } = opened
    const run = await claimOne(opened, { maxAttempts: 1 })
    expect(await jobs.fail(run, thrown)).toBe('applied')
    const job = await jobs.get(run.id)
    expect(job).toMatchObject({ state: 'dead', error: { name: 'Error', message: expect.any(String) } })
    expect(job!.error!.message).toBe(job!.error!.message.toWellFormed().replaceAll('\u0000', ''))
    expect(job!.error!.message.length).toBeLessThanOrEqual(8_193)
  })
})

forEachClient('client: reclaim', (open) => {
  it('expired runs: again at once, or dead when the attempts are used up, or cancelled if that was asked for', async () => {
    const opened = await open()
    const { jobs, clock } = opened
    const again = await claimOne(opened, { maxAttempts: 2 })
    const last = await claimOne(opened, { maxAttempts: 1 })
    const unwanted = await claimOne(opened)
    const alive = await claimOne(opened)
    await jobs.cancel(unwanted.id, { reason: 'enough' })
    await clock.advance('59s')
    expect(await jobs.reclaim()).toEqual({ requeued: [], dead: [], cancelled: [] })
    await jobs.extend(alive, '60s')
    await clock.advance('2s')
    expect(await jobs.reclaim()).toEqual({ requeued: [again.id], dead: [last.id], cancelled: [unwanted.id] })
    expect(await jobs.get(again.id)).toMatchObject({ state: 'pending', attempt: 1, runAt: new Date(clock.now()) })
    expect(await jobs.get(last.id)).toMatchObject({ state: 'dead', error: { code: 'LEASE_EXPIRED' } })
    expect(await jobs.get(unwanted.id)).toMatchObject({ state: 'cancelled', error: { message: 'enough' } })
    expect(await jobs.get(alive.id)).toMatchObject({ state: 'running' })
    expect(await jobs.reclaim()).toEqual({ requeued: [], dead: [], cancelled: [] })
  })

  it('all of them, however many', async () => {
    const { jobs, clock } = await open()
    await jobs.enqueueMany(
      sendEmail,
      Array.from({ length: 1_001 }, (_, n) => n),
    )
    await jobs.claim('default', { max: 1_000, lease: '1s' })
    await jobs.claim('default', { max: 1_000, lease: '1s' })
    await clock.advance('2s')
    const { requeued, dead } = await jobs.reclaim()
    expect(dead).toEqual([])
    expect(new Set(requeued).size).toBe(1_001)
    expect(await jobs.countBy('state')).toEqual({ pending: 1_001 })
  })
})

forEachClient('client: a cancel that was asked for', (open) => {
  it.each(['finish', 'fail', 'release'] as const)('is what becomes of the job, whatever is said: %s', async (how) => {
    const opened = await open()
    const { jobs } = opened
    const run = await claimOne(opened)
    expect(await jobs.cancel(run.id, { reason: 'a person' })).toMatchObject({ changed: 1 })
    expect(await jobs.get(run.id)).toMatchObject({ state: 'running', cancelRequested: true })
    expect(await jobs.extend(run, '2m')).toBe(true)
    const ended: unknown[] = []
    jobs.on('job.cancelled', ({ job }) => ended.push(job.id))
    jobs.on('job.completed', () => ended.push('completed'))
    const say = {
      finish: () => jobs.finish(run, completed('too late')),
      fail: () => jobs.fail(run, 'no'),
      release: () => jobs.release(run),
    }
    expect(await say[how]()).toBe(how === 'release' ? true : 'applied')
    const job = await jobs.get(run.id)
    expect(job).toMatchObject({ state: 'cancelled', error: { name: 'Cancelled', code: 'CANCELLED', message: 'a person' } })
    expect(job).not.toHaveProperty('result')
    expect(ended).toEqual([run.id])
  })
})
