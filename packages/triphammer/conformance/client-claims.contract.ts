import { expect, it } from 'vitest'
import type { ClaimedRun, Job } from '../src/client/job.ts'
import { cancelled, completed, dead, discard, type JobOutcome, retry, retryAfter, snooze, timedOut } from '../src/core/outcome.ts'
import { fixed } from '../src/core/retry.ts'
import { defineTask } from '../src/core/task.ts'
import { forEachClient, refused, sendEmail } from './client.ts'

const NOW = Date.UTC(2026, 0, 1)
const boom = new TypeError('boom')

forEachClient('client: claim', (open) => {
  it('one run unless more are asked for, with all that its worker needs', async () => {
    const { jobs } = await open()
    const [first] = await jobs.enqueueMany(sendEmail, [{ n: 1 }, { n: 2 }], { timeout: '9s', retry: fixed('5s'), maxAttempts: 4 })
    const runs = await jobs.claim('default')
    expect(runs).toEqual([
      {
        lease: { id: first!.id, token: expect.any(String) },
        id: first!.id,
        task: 'send_email',
        queue: 'default',
        payload: { n: 1 },
        priority: 0,
        attempt: 1,
        maxAttempts: 4,
        runAt: new Date(NOW),
        claimedAt: new Date(NOW),
        timeoutMs: 9_000,
        retry: { kind: 'fixed', baseMs: 5_000 },
      },
    ])
    expect(await jobs.get(first!.id)).toMatchObject({ state: 'running', leaseUntil: new Date(NOW + 60_000) })
  })

  it('as many as asked for, as long as asked for, and [] when there are none', async () => {
    const { jobs } = await open()
    await jobs.enqueueMany(sendEmail, [1, 2, 3, 4, 5])
    expect(await jobs.claim('default', { max: 0 })).toEqual([])
    const runs = await jobs.claim('default', { max: 4, lease: '90s' })
    expect(runs.map(({ payload }) => payload)).toEqual([1, 2, 3, 4])
    for (const { id } of runs) expect((await jobs.get(id))?.leaseUntil).toEqual(new Date(NOW + 90_000))
    expect((await jobs.claim('default', { max: 4 })).map(({ payload }) => payload)).toEqual([5])
    expect(await jobs.claim('default', { max: 4 })).toEqual([])
    expect(await jobs.claim('nowhere')).toEqual([])
  })

  it('only of some tasks, by name or by task', async () => {
    const { jobs } = await open()
    const [resize, report] = [defineTask('resize'), defineTask('report')]
    await jobs.enqueueMany([sendEmail.with(1), resize.with(2), report.with(3), resize.with(4)])
    expect((await jobs.claim('default', { max: 9, tasks: [resize] })).map(({ payload }) => payload)).toEqual([2, 4])
    expect((await jobs.claim('default', { max: 9, tasks: ['report', sendEmail] })).map(({ payload }) => payload)).toEqual([1, 3])
  })

  it('by weight: a level left out weighs 1, one of weight 0 waits for all others', async () => {
    const { jobs } = await open()
    const levels = ['critical', 'high', 'normal', 'low', 'background'] as const
    await jobs.enqueueMany(levels.map((priority) => sendEmail.with(priority, { priority })))
    const take = async (weights: 'default' | Partial<Record<(typeof levels)[number], number>>, max = 1): Promise<unknown[]> =>
      (await jobs.claim('default', { max, weights })).map(({ payload }) => payload)
    expect(await take({ critical: 0, high: 0, normal: 0, low: 0 })).toEqual(['background'])
    const rest = await take({ critical: 0 }, 3)
    expect([...rest].sort()).toEqual(['high', 'low', 'normal'])
    expect(await take('default', 9)).toEqual(['critical'])
  })
})

const ENDS: readonly (readonly [string, () => JobOutcome | ReturnType<typeof snooze>, Partial<Job>])[] = [
  ['completed', () => completed(), { state: 'completed', attempt: 1, endedAt: new Date(NOW) }],
  ['completed with a result', () => completed({ ok: [1, 'ä'] }), { state: 'completed', result: { ok: [1, 'ä'] } }],
  ['completed with null', () => completed(null), { state: 'completed', result: null }],
  ['retry', () => retry(boom), { state: 'pending', attempt: 1, runAt: new Date(NOW), waitsFor: 'worker' }],
  ['retry after a delay', () => retry(boom, { delay: '5s' }), { state: 'pending', runAt: new Date(NOW + 5_000), waitsFor: 'retry' }],
  [
    'retry at a moment',
    () => retry('why', { at: NOW + 9_000 }),
    { runAt: new Date(NOW + 9_000), error: { name: 'Error', message: 'why' } },
  ],
  ['dead', () => dead(boom), { state: 'dead', error: expect.objectContaining({ name: 'TypeError', message: 'boom' }) }],
  ['dead without a word', () => dead(), { state: 'dead', error: { name: 'Error', message: 'the job failed' } }],
  ['timed out', () => timedOut(boom), { state: 'timed_out', error: expect.objectContaining({ message: 'boom' }) }],
  ['cancelled', () => cancelled('not needed'), { state: 'cancelled', error: expect.objectContaining({ message: 'not needed' }) }],
  ['snooze', () => snooze('2m'), { state: 'pending', attempt: 0, runAt: new Date(NOW + 120_000), waitsFor: 'time' }],
  ['discard', () => discard('useless'), { state: 'dead', error: { name: 'Error', message: 'useless' } }],
  ['retryAfter', () => retryAfter('3s', boom), { state: 'pending', attempt: 1, runAt: new Date(NOW + 3_000) }],
]

forEachClient('client: the end of a run', (open) => {
  it.each(ENDS)('%s', async (_, outcome, expected) => {
    const { jobs } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const [run] = await jobs.claim('default')
    expect(await jobs.finish(run!, outcome())).toBe('applied')
    expect(await jobs.get(id)).toMatchObject(expected)
    // [I1] Said again, of a run that has ended, nothing is written.
    const before = await jobs.get(id)
    expect(await jobs.finish(run!, completed('again'))).toBe('stale')
    expect(await jobs.fail(run!, boom)).toBe('stale')
    expect(await jobs.release(run!)).toBe(false)
    expect(await jobs.extend(run!, '1h')).toBe(false)
    expect(await jobs.get(id)).toEqual(before)
  })

  it('release: as if it had not been claimed', async () => {
    const { jobs } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const before = await jobs.get(id)
    const [run] = await jobs.claim('default')
    expect(await jobs.release(run!)).toBe(true)
    expect(await jobs.get(id)).toEqual(before)
  })

  it('extend: from now, never shorter', async () => {
    const { jobs, clock } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const [run] = await jobs.claim('default', { lease: '10s' })
    await clock.advance('5s')
    const until = async (): Promise<number> => Number((await jobs.get(id))?.leaseUntil) - NOW
    expect(await jobs.extend(run!, '1s')).toBe(true)
    expect(await until()).toBe(10_000)
    expect(await jobs.extend(run!, '30s')).toBe(true)
    expect(await until()).toBe(35_000)
  })

  it('[I1] what was lost to a reclaim or to a person is stale, though the job runs again', async () => {
    const { jobs, clock } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const [lapsed] = await jobs.claim('default', { lease: '1s' })
    await clock.advance('2s')
    expect(await jobs.reclaim()).toEqual({ requeued: [id], dead: [], cancelled: [] })
    const [taken] = await jobs.claim('default')
    expect((await jobs.retry(id)).changed).toBe(1)
    const [current] = await jobs.claim('default')
    const before = await jobs.get(id)
    expect(before).toMatchObject({ state: 'running', attempt: 3 })
    for (const run of [lapsed!, taken!]) {
      expect(await jobs.extend(run, '1h')).toBe(false)
      expect(await jobs.finish(run, completed())).toBe('stale')
      expect(await jobs.fail(run, boom)).toBe('stale')
      expect(await jobs.release(run)).toBe(false)
    }
    expect(await jobs.get(id)).toEqual(before)
    expect(await jobs.finish(current!, completed())).toBe('applied')
  })

  it('a run that has travelled as JSON is as good', async () => {
    const { jobs } = await open()
    await jobs.enqueueMany(sendEmail, [1, 2, 3], { retry: fixed('7s'), maxAttempts: 2 })
    const runs: readonly ClaimedRun[] = JSON.parse(JSON.stringify(await jobs.claim('default', { max: 3 })))
    for (const run of runs) expect(await jobs.extend(run, '2m')).toBe(true)
    const [one, two, three] = runs
    expect(await jobs.finish(one!, completed('done'))).toBe('applied')
    expect(await jobs.fail(two!, boom)).toBe('applied')
    expect(await jobs.release(three!)).toBe(true)
    expect(await jobs.get(one!.id)).toMatchObject({ state: 'completed', result: 'done' })
    expect(await jobs.get(two!.id)).toMatchObject({ state: 'pending', attempt: 1, runAt: new Date(NOW + 7_000) })
    expect(await jobs.get(three!.id)).toMatchObject({ state: 'pending', attempt: 0 })
  })

  it('a payload that its worker has spoilt does not keep the run from ending', async () => {
    const { jobs } = await open()
    const { id } = await jobs.enqueue(sendEmail, { to: 'a@b.c' })
    const [run] = await jobs.claim('default')
    const payload = run!.payload as Record<string, unknown>
    payload['total'] = 10n
    payload['self'] = payload
    expect(await jobs.finish(run!, completed())).toBe('applied')
    expect(await jobs.get(id)).toMatchObject({ state: 'completed', payload: { to: 'a@b.c' } })
  })

  it('a payload that somebody spoilt in the store is shown as such, and hides no other', async () => {
    const { jobs, job, store } = await open()
    const [bad, good] = [job({ payload: '{"cut off' }), job()]
    await store.enqueue([bad, good])
    const [spoilt, sound] = await jobs.claim('default', { max: 2 })
    expect(spoilt).toMatchObject({ id: bad.id, payload: undefined, unreadable: expect.stringMatching(/JSON/) })
    expect(sound).toMatchObject({ id: good.id, payload: { n: 1 } })
    expect((await jobs.list()).jobs.map(({ unreadable }) => unreadable !== undefined)).toEqual([false, true])
    expect(await jobs.fail(spoilt!, boom)).toBe('applied')
  })

  it('a result that is not JSON is refused, and the run goes on', async () => {
    const { jobs } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const [run] = await jobs.claim('default')
    await refused(() => jobs.finish(run!, completed({ n: [1n] })), 'PAYLOAD_NOT_JSON', /result\.n\[0\] is a bigint/)
    await refused(() => jobs.finish(run!, completed('x'.repeat(1_048_577))), 'PAYLOAD_TOO_LARGE', /result has 1048579 bytes/)
    await refused(() => jobs.finish(run!, cancelled('a\u0000b')), 'TEXT_INVALID', /reason contains U\+0000/)
    expect(await jobs.get(id)).toMatchObject({ state: 'running' })
    expect(await jobs.finish(run!, completed('fine'))).toBe('applied')
  })
})
