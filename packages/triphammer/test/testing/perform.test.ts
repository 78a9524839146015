import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTask, discard, fixed, type Plugin, retryAfter, snooze, type Task } from '../../src/index.ts'
import { createTestKit, type TestKitOptions } from '../../src/testing.ts'
import { type HandlerContext, handle } from '../../src/worker.ts'

const work: Task<unknown, unknown> = defineTask('work', { queue: 'works', maxAttempts: 3, retry: fixed('1m') })
const other = defineTask('other')

const kitOf = (run: (context: HandlerContext<unknown>) => unknown, options: TestKitOptions = {}) =>
  createTestKit({ handlers: [handle(work, run)], ...options })

describe('perform', () => {
  it('answers with what is kept of the result', async () => {
    const t = kitOf(() => ({ at: new Date(0), n: 1 }))
    expect(await t.perform(work, {})).toEqual({ outcome: 'completed', result: { at: '1970-01-01T00:00:00.000Z', n: 1 }, enqueued: [] })
  })

  it('answers with the very error that was thrown, and when the job would be tried again', async () => {
    const broken = new RangeError('broken')
    const t = kitOf(() => {
      throw broken
    })
    const { error, ...rest } = await t.perform(work, {})
    expect(error).toBe(broken)
    expect(rest).toEqual({ outcome: 'retry', delayMs: 60_000, enqueued: [] })
  })

  it('is dead with the last attempt, which can be asked for', async () => {
    const attempts: unknown[] = []
    const t = kitOf(({ attempt, job }) => {
      attempts.push([attempt, job.attempt, job.maxAttempts])
      throw new Error('broken')
    })
    expect(await t.perform(work, {}, { attempt: 3 })).toMatchObject({ outcome: 'dead', error: new Error('broken') })
    expect(await t.perform(work, {}, { maxAttempts: 1 })).toMatchObject({ outcome: 'dead' })
    expect(attempts).toEqual([
      [3, 3, 3],
      [1, 1, 1],
    ])
    await expect(t.perform(work, {}, { attempt: 4 })).rejects.toThrow('perform: attempt: 4 is not a whole number from 1 to 3')
  })

  it('answers with what a handler decides, thrown or returned', async () => {
    const reason = new TypeError('closed')
    const ends: Readonly<Record<string, () => unknown>> = {
      discard: () => discard(reason),
      text: () => discard('closed'),
      snooze: () => snooze('5m'),
      retryAfter: () => retryAfter('30s', reason),
      bare: () => retryAfter('30s'),
    }
    const t = kitOf(({ payload }) => {
      const [how, name] = payload as [string, string]
      const end = ends[name]!()
      if (how === 'throw') throw end as Error
      return end
    })
    for (const how of ['throw', 'return']) {
      const { error } = await t.perform(work, [how, 'discard'])
      expect(error).toBe(reason)
      expect(await t.perform(work, [how, 'discard'])).toMatchObject({ outcome: 'dead' })
      expect(await t.perform(work, [how, 'text'])).toMatchObject({ outcome: 'dead', error: 'closed' })
      expect(await t.perform(work, [how, 'snooze'])).toEqual({ outcome: 'snooze', delayMs: 300_000, enqueued: [] })
      expect(await t.perform(work, [how, 'retryAfter'])).toMatchObject({ outcome: 'retry', delayMs: 30_000 })
      expect((await t.perform(work, [how, 'retryAfter'])).error).toBe(reason)
      expect(await t.perform(work, [how, 'bare'])).toMatchObject({ outcome: 'retry', error: 'the handler asked for another attempt' })
    }
  })

  it('lets a handler take its real time, while the clock stands still', async () => {
    const t = kitOf(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return t.clock.now()
    })
    const now = t.clock.now()
    expect(await t.perform(work, {}, { timeout: '1ms' })).toMatchObject({ outcome: 'completed', result: now })
  })

  it('ends an attempt at its time limit, by the clock of the kit', async () => {
    const signals: AbortSignal[] = []
    const t = kitOf(({ signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    for (const [attempt, outcome] of [
      [1, 'retry'],
      [3, 'timed_out'],
    ] as const) {
      const running = t.perform(work, {}, { timeout: '30s', attempt })
      await t.clock.advance('30s')
      const performed = await running
      expect(performed).toMatchObject({ outcome, error: { code: 'TIMED_OUT' } })
      expect(performed.error).toBe(signals.pop()?.reason)
    }
  })

  it('lets no time pass before the attempt begins, however long that takes', async () => {
    let startedAt = 0
    const slow: Plugin = {
      name: 'slow',
      setup({ enqueue, run }) {
        enqueue(async (jobs, next) => {
          await new Promise((resolve) => setTimeout(resolve, 20))
          return next(jobs)
        })
        run((call, next) => {
          startedAt = t.clock.now()
          return next(call)
        })
      },
    }
    const t = kitOf(() => new Promise(() => {}), { plugins: [slow] })
    const now = t.clock.now()
    const running = t.perform(work, {}, { timeout: '30s', maxAttempts: 1 })
    await t.clock.advance('30s')
    expect(startedAt).toBe(now)
    expect((await running).outcome).toBe('timed_out')
  })

  it('checks the payload as enqueue does, and gives the handler what the schema makes of it', async () => {
    const task = defineTask('typed', { input: z.object({ day: z.iso.date().transform((text) => new Date(text)) }) })
    const seen: unknown[] = []
    const t = createTestKit({ handlers: [handle(task, ({ payload }) => void seen.push(payload.day))] })
    expect(await t.perform(task, { day: '2026-03-01' })).toMatchObject({ outcome: 'completed' })
    expect(seen).toEqual([new Date('2026-03-01')])
    await expect(t.perform(task, { day: 'someday' })).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    expect(t.enqueued(undefined, { state: 'any' })).toEqual([])
  })

  it('fails where there is no handler, and says what to do', async () => {
    const t = createTestKit()
    await expect(t.perform(other, {})).rejects.toMatchObject({
      code: 'NO_HANDLER',
      message: 'perform: the kit has no handler for task "other"; give createTestKit({ handlers }) one, made by handle(task, function)',
    })
    await expect(t.perform('other' as never, {})).rejects.toMatchObject({ code: 'NO_HANDLER' })
  })

  it('gives the handler the job as it would be', async () => {
    const t = kitOf(({ job }) => job)
    const { result } = await t.perform(work, {}, { priority: 'low', queue: 'elsewhere' })
    const now = '2026-01-01T00:00:00.000Z'
    expect(result).toMatchObject({ task: 'work', queue: 'elsewhere', priority: 10, attempt: 1, createdAt: now, runAt: now })
    expect((await t.perform(work, {})).result).toMatchObject({ queue: 'works', priority: 0 })
  })

  it('lists what the handler enqueues, in whatever way, and leaves it in the store', async () => {
    const t = kitOf(async ({ enqueue, commit }) => {
      await enqueue(other, 'context')
      await t.jobs.enqueue(other, 'client')
      await commit((tx) => tx.enqueue(other, 'commit'))
    })
    await t.jobs.enqueue(other, 'before')
    const { outcome, enqueued } = await t.perform(work, {})
    expect(outcome).toBe('completed')
    expect(enqueued.map(({ payload }) => payload)).toEqual(['context', 'client', 'commit'])
    expect(t.enqueued(other)).toHaveLength(4)
  })

  it('keeps what a commit has not committed out of the store', async () => {
    const t = kitOf(({ commit }) =>
      commit(async (tx) => {
        await tx.enqueue(other, 1)
        throw new Error('roll back')
      }),
    )
    expect(await t.perform(work, {})).toMatchObject({ outcome: 'retry', enqueued: [] })
    t.assertNotEnqueued(other)
  })

  it('is completed by a commit, whatever the handler does afterwards', async () => {
    const t = kitOf(async ({ commit }) => {
      await commit(() => 'kept')
      throw new Error('too late')
    })
    expect(await t.perform(work, {})).toEqual({ outcome: 'completed', result: 'kept', enqueued: [] })
  })

  it('describes the error where the thing itself is not to be had', async () => {
    const t = kitOf(({ commit }) =>
      t.jobs.transaction((tx) => commit(tx).then(() => Promise.reject(new Error('roll back')))).catch(() => {}),
    )
    expect(await t.perform(work, {})).toMatchObject({ outcome: 'retry', error: { code: 'COMMIT_MISSING' } })
  })

  it('goes through middleware, observers and follow-ups, and past gates and services', async () => {
    const seen: string[] = []
    const plugin: Plugin = {
      name: 'all',
      setup({ enqueue, run, on, followUp, gate, service }) {
        seen.push('setup')
        enqueue((jobs, next) => next(jobs.map((job) => ({ ...job, payload: `"sealed:${job.task}"` }))))
        run(async (call, next) => `wrapped ${String(await next(call))}`)
        on('job.enqueued', ({ job }) => void seen.push(`enqueued ${job.task}`))
        on('job.completed', ({ job }) => void seen.push(`completed ${job.task}`))
        followUp(({ state }) => [other.with(state)])
        gate({ name: 'shut', take: () => ({ granted: 0 }), refund: () => {} })
        service({ name: 'busy', run: async () => void seen.push('service') })
      },
    }
    const t = kitOf(({ payload }) => payload, { plugins: [plugin] })
    const { result, enqueued } = await t.perform(work, 'open')
    expect(result).toBe('wrapped sealed:work')
    expect(enqueued.map(({ task }) => task)).toEqual(['other'])
    await t.perform(work, 'again')
    // Once for the client and once for the workers, however often one runs; no event of a job that was never enqueued.
    expect(seen).toEqual(['setup', 'setup', 'completed work', 'completed work'])
  })

  it('leaves the jobs of the store alone, and nothing of its own', async () => {
    const t = kitOf(
      ({ payload }) => {
        if (payload === 'performed') throw retryAfter(0)
      },
      { maxAttempts: 5 },
    )
    await t.jobs.enqueue(work, 'waiting', { priority: 'critical' })
    expect(await t.perform(work, 'performed')).toMatchObject({ outcome: 'retry' })
    expect(t.enqueued(undefined, { state: 'any' })).toMatchObject([{ payload: 'waiting', state: 'pending', attempt: 0 }])
    expect(await t.jobs.workers()).toEqual([])
    expect(await t.jobs.queues()).toMatchObject([{ name: 'works', pending: 1, running: 0 }])
  })

  it('is in nobody’s way: a worker at work takes nothing of it, also when it would run again at once', async () => {
    const seen: unknown[] = []
    const t = kitOf(({ payload, attempt }) => {
      seen.push([payload, attempt])
      if (payload === 'again') throw snooze(0)
    })
    await t.worker.start()
    expect(await t.perform(work, 'again')).toMatchObject({ outcome: 'snooze', delayMs: 0 })
    await t.jobs.enqueue(work, 'waiting')
    await t.worker.idle()
    expect(seen).toEqual([
      ['again', 1],
      ['waiting', 1],
    ])
    await t.close()
  })

  it('runs also while its queue is paused', async () => {
    const t = kitOf(() => 'done')
    await t.jobs.pause('works')
    expect(await t.perform(work, {})).toMatchObject({ outcome: 'completed', result: 'done' })
  })

  it('shows the last progress, also of a job that is forgotten when it completes', async () => {
    const task = defineTask('forgotten', { retain: false })
    const t = createTestKit({
      handlers: [
        handle(task, ({ progress }) => {
          progress({ percent: 50 })
          progress({ percent: 99 })
        }),
      ],
    })
    expect(await t.perform(task, {})).toEqual({ outcome: 'completed', progress: { percent: 99 }, enqueued: [] })
  })

  it('can be looked at and cancelled while it runs', async () => {
    const t = kitOf(async ({ job, signal }) => {
      expect(await t.jobs.get(job.id)).toMatchObject({ state: 'running', task: 'work', queue: 'works', payload: 'mine' })
      await t.jobs.cancel(job.id)
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      await t.clock.advance('1s') // the pulse that tells of it
      await aborted
      return 'too late'
    })
    expect(await t.perform(work, 'mine')).toEqual({ outcome: 'cancelled', enqueued: [] })
  })

  it('is lost when the job is taken away', async () => {
    const t = kitOf(async ({ job }) => void (await t.jobs.kill(job.id)))
    expect(await t.perform(work, {})).toEqual({ outcome: 'lost', enqueued: [] })
    expect(t.enqueued(undefined, { state: 'any' })).toEqual([])
  })

  it('stays nobody’s when the handler gives the job to a worker at work', async () => {
    const t = kitOf(async ({ job, attempt }) => {
      if (attempt === 2) return new Promise(() => {})
      await t.jobs.retry(job.id)
      while (t.worker.stats().running === 0) await new Promise((resolve) => setImmediate(resolve))
      return undefined
    })
    await t.worker.start()
    expect((await t.perform(work, {})).outcome).toBe('lost')
    expect(t.enqueued(undefined, { state: 'any' })).toEqual([])
    await t.close()
  })

  it('runs several at a time', async () => {
    const started: unknown[] = []
    const gates: (() => void)[] = []
    const t = kitOf(async ({ payload }) => {
      started.push(payload)
      await new Promise<void>((resolve) => gates.push(resolve))
      return payload
    })
    const both = Promise.all([t.perform(work, 1), t.perform(work, 2)])
    await t.clock.advance(0) // waits until both have started
    expect(started).toEqual([1, 2])
    for (const open of gates) open()
    expect((await both).map(({ result }) => result)).toEqual([1, 2])
  })

  it('refuses options that a job of one attempt cannot have', async () => {
    const t = kitOf(() => {})
    await expect(t.perform(work, {}, { delay: '5m' } as never)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
    await expect(t.perform(work, {}, { timeout: 'soon' })).rejects.toMatchObject({ code: 'INVALID_DURATION' })
    await expect(t.perform(work, {}, { attempt: 0 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})
