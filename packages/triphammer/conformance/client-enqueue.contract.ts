import { expect, it } from 'vitest'
import { z } from 'zod'
import { clientOn } from '../src/client/client.ts'
import { manualClock } from '../src/core/manual-clock.ts'
import { completed } from '../src/core/outcome.ts'
import { exponential, fixed } from '../src/core/retry.ts'
import { defineTask, type EnqueueOptions } from '../src/core/task.ts'
import type { JobRecord } from '../src/store/admin.ts'
import { forEachClient, sendEmail } from './client.ts'

const NOW = Date.UTC(2026, 0, 1)
const ID = '01890a5d-ac96-774b-bcce-b302099a8057'

const OPTIONS: readonly (readonly [string, EnqueueOptions, Partial<JobRecord>])[] = [
  ['id', { id: ID }, { id: ID }],
  ['id in capitals', { id: ID.toUpperCase() }, { id: ID }],
  ['queue', { queue: 'mail' }, { queue: 'mail' }],
  ['priority critical', { priority: 'critical' }, { priority: -20 }],
  ['priority high', { priority: 'high' }, { priority: -10 }],
  ['priority normal', { priority: 'normal' }, { priority: 0 }],
  ['priority low', { priority: 'low' }, { priority: 10 }],
  ['priority background', { priority: 'background' }, { priority: 20 }],
  ['the lowest number', { priority: -32_768 }, { priority: -32_768 }],
  ['the highest number', { priority: 32_767 }, { priority: 32_767 }],
  ['delay as text', { delay: '1h 30m' }, { runAt: NOW + 5_400_000 }],
  ['delay in milliseconds', { delay: 1_500 }, { runAt: NOW + 1_500 }],
  ['delay of a part of a millisecond', { delay: 1.4 }, { runAt: NOW + 1 }],
  ['delay of zero is now', { delay: 0 }, { runAt: NOW }],
  ['delay of a hundred years', { delay: '36500d' }, { runAt: NOW + 36_500 * 86_400_000 }],
  ['runAt as Date', { runAt: new Date(NOW + 1_000) }, { runAt: NOW + 1_000 }],
  ['runAt in milliseconds', { runAt: NOW + 2_000 }, { runAt: NOW + 2_000 }],
  ['runAt as text with an offset', { runAt: '2026-01-02T03:04:05.678+01:00' }, { runAt: Date.UTC(2026, 0, 2, 2, 4, 5, 678) }],
  ['runAt as a day', { runAt: '2028-02-29' }, { runAt: Date.UTC(2028, 1, 29) }],
  ['runAt as a Temporal instant', { runAt: { epochMilliseconds: NOW + 3_000 } }, { runAt: NOW + 3_000 }],
  ['runAt in the past', { runAt: '1999-12-31T23:59:59Z' }, { runAt: Date.UTC(1999, 11, 31, 23, 59, 59) }],
  ['runAt 1970', { runAt: 0 }, { runAt: 0 }],
  ['maxAttempts', { maxAttempts: 1 }, { maxAttempts: 1 }],
  ['timeout', { timeout: '30s' }, { timeoutMs: 30_000 }],
  [
    'retry',
    { retry: fixed('5s', { errors: { E_CARD: 'dead' } }) },
    { retry: { kind: 'fixed', baseMs: 5_000, errors: { E_CARD: 'dead' } } },
  ],
  ['retain', { retain: '1h' }, { retainMs: 3_600_000 }],
  ['retain false', { retain: false }, { retainMs: 0 }],
]

const eager = defineTask('eager', {
  queue: 'fast',
  priority: 'high',
  maxAttempts: 5,
  timeout: '10s',
  retry: exponential({ base: '1s', factor: 3 }),
  retain: '2d',
})

forEachClient('client: enqueue', (open) => {
  it.each(OPTIONS)('%s', async (_, options, expected) => {
    const { jobs, find } = await open()
    const { id, status } = await jobs.enqueue(sendEmail, { to: 'a@b.c' }, options)
    expect(status).toBe('inserted')
    expect(await find(id)).toMatchObject({ state: 'pending', attempt: 0, payload: '{"to":"a@b.c"}', ...expected })
  })

  it('says nothing of what nobody said anything about', async () => {
    const { jobs, find } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const record = await find(id)
    expect(record).toMatchObject({ task: 'send_email', queue: 'default', priority: 0, maxAttempts: 25, createdAt: NOW, runAt: NOW })
    for (const key of ['timeoutMs', 'retry', 'retainMs']) expect(record).not.toHaveProperty(key)
  })

  it("takes the task's policy, and of the job what the job says", async () => {
    const { jobs, find } = await open()
    const policy = { queue: 'fast', priority: -10, maxAttempts: 5, timeoutMs: 10_000, retainMs: 172_800_000 }
    const retry = { kind: 'exponential', baseMs: 1_000, factor: 3 }
    expect(await find((await jobs.enqueue(eager, 1)).id)).toMatchObject({ ...policy, retry })

    const own: EnqueueOptions = { queue: 'slow', priority: 3, maxAttempts: 2, timeout: 5, retry: fixed(7), retain: false }
    expect(await find((await jobs.enqueue(eager, 1, own)).id)).toMatchObject({
      ...{ queue: 'slow', priority: 3, maxAttempts: 2, timeoutMs: 5, retainMs: 0 },
      retry: { kind: 'fixed', baseMs: 7 },
    })
    // A part that the job does not mention stays as the task has it, `undefined` included.
    const partly = { priority: 3, queue: undefined } as unknown as EnqueueOptions
    expect(await find((await jobs.enqueue(eager, 1, partly)).id)).toMatchObject({ ...policy, priority: 3 })
  })

  it("keeps no retry function: a task's is asked by its workers", async () => {
    const { jobs, find } = await open()
    const { id } = await jobs.enqueue(defineTask('custom', { retry: () => '1s' }), 1)
    expect(await find(id)).not.toHaveProperty('retry')
  })

  it('[I9] a job whose id the store knows is a duplicate, whatever became of that', async () => {
    const { jobs, stored, isEmpty } = await open()
    expect(await jobs.enqueue(sendEmail, 'first', { id: ID })).toEqual({ id: ID, status: 'inserted' })
    expect(await jobs.enqueue(sendEmail, 'second', { id: ID.toUpperCase(), queue: 'other' })).toEqual({ id: ID, status: 'duplicate' })
    const [run] = await jobs.claim('default')
    expect(await jobs.finish(run!, completed())).toBe('applied')
    expect(await jobs.enqueue(sendEmail, 'third', { id: ID })).toEqual({ id: ID, status: 'duplicate' })
    expect(await stored(ID)).toBe('"first"')
    expect(await jobs.count()).toBe(1)
    await jobs.delete(ID)
    expect(await isEmpty()).toBe(true)
    expect(await jobs.enqueue(sendEmail, 'fourth', { id: ID })).toEqual({ id: ID, status: 'inserted' })
  })

  it('ids rise, across clients of one process that share their ids', async () => {
    const { jobs, clientWith } = await open()
    const other = clientWith({})
    const made: string[] = []
    for (let n = 0; n < 20; n++) made.push((await (n % 2 ? other : jobs).enqueue(sendEmail, n)).id)
    expect(made).toEqual([...made].sort())
    expect(new Set(made).size).toBe(20)
  })

  it('[I5] a delay is added to the clock of the store', async () => {
    const { store, find } = await open()
    const elsewhere = clientOn({ store, clock: manualClock(0), logger: false })
    const { id } = await elsewhere.enqueue(sendEmail, 1, { delay: '5m' })
    expect(await find(id)).toMatchObject({ createdAt: NOW, runAt: NOW + 300_000 })
  })

  it('[I7] a job of the past takes its place among those that were due then', async () => {
    const { jobs, clock } = await open()
    await clock.advance('1h')
    const at = async (runAt: number): Promise<string> => (await jobs.enqueue(sendEmail, 1, { runAt })).id
    const [second, third, first] = [await at(NOW + 10), await at(NOW + 20), await at(NOW - 10)]
    const future = await at(NOW + 3_600_001)
    const now = (await jobs.enqueue(sendEmail, 1)).id
    expect((await jobs.claim('default', { max: 9 })).map(({ id }) => id)).toEqual([first, second, third, now])
    await clock.advance(1)
    expect((await jobs.claim('default', { max: 9 })).map(({ id }) => id)).toEqual([future])
  })

  it('a completed job is kept as long as it was said, and not at all for retain: false', async () => {
    const { jobs, store, clock } = await open()
    const hour = await jobs.enqueue(sendEmail, 1, { retain: '1h' })
    const week = await jobs.enqueue(sendEmail, 2)
    const none = await jobs.enqueue(sendEmail, 3, { retain: false })
    for (const run of await jobs.claim('default', { max: 3 })) await jobs.finish(run, completed())
    const kept = async (): Promise<readonly boolean[]> => {
      await store.maintain({ session: hour.id, limit: 100 })
      return Promise.all([hour, week, none].map(async ({ id }) => (await jobs.get(id)) !== undefined))
    }
    expect(await kept()).toEqual([true, true, false])
    await clock.advance('1h')
    expect(await kept()).toEqual([false, true, false])
    await clock.advance('7d')
    expect(await kept()).toEqual([false, false, false])
  })

  it('stores the payload as it was given, not as the schema turned it out', async () => {
    const { jobs, stored } = await open()
    const task = defineTask('parse', { input: z.object({ n: z.string().transform(Number), more: z.number().default(5) }) })
    expect(await stored((await jobs.enqueue(task, { n: '7' })).id)).toBe('{"n":"7"}')
  })

  it('a payload that was left out is null', async () => {
    const { jobs, stored } = await open()
    expect(await stored((await jobs.enqueue(defineTask<undefined>('bare'))).id)).toBe('null')
  })

  it('takes the payload at the call: what becomes of it later does not count, also while a schema is at work', async () => {
    const { jobs, stored } = await open()
    let checked = (): void => {}
    const gate = new Promise<void>((resolve) => {
      checked = resolve
    })
    const slow = defineTask('slow', { input: z.object({ n: z.number() }).refine(async () => gate.then(() => true)) })
    const payload = { n: 1 }
    const results = [jobs.enqueue(sendEmail, payload), jobs.enqueue(slow, payload)]
    payload.n = 2
    checked()
    for (const { id } of await Promise.all(results)) expect(await stored(id)).toBe('{"n":1}')
  })
})
