import { describe, expect, it } from 'vitest'
import { defineTask, discard, fixed, type Plugin, snooze, type Task } from '../../src/index.ts'
import { createTestKit, type TestKitOptions } from '../../src/testing.ts'
import { type HandlerContext, handle } from '../../src/worker.ts'

const work: Task<unknown, unknown> = defineTask('work')
const other: Task<unknown, unknown> = defineTask('other', { queue: 'others' })

const NONE = { completed: 0, retried: 0, snoozed: 0, dead: 0, timedOut: 0, cancelled: 0, lost: 0 }

/** A kit whose handlers write down what they were given; `run` decides what becomes of it. */
const kitOf = (run: (context: HandlerContext<unknown>) => unknown, options: TestKitOptions = {}) => {
  const seen: unknown[] = []
  const handler = (context: HandlerContext<unknown>): unknown => {
    seen.push(context.payload)
    return run(context)
  }
  return { t: createTestKit({ handlers: [handle(work, handler), handle(other, handler)], ...options }), seen }
}

describe('drain', () => {
  it('runs what is due and counts what became of it', async () => {
    const ends: Readonly<Record<string, () => unknown>> = {
      complete: () => 1,
      retry: () => Promise.reject(new Error('no')),
      snooze: () => Promise.reject(snooze('1h')),
      die: () => Promise.reject(discard('no')),
    }
    const { t } = kitOf(({ payload }) => ends[payload as string]?.())
    await t.jobs.enqueueMany(work, ['complete', 'retry', 'snooze', 'die', 'complete'])
    await t.jobs.enqueue(work, 'complete', { delay: 1 })
    expect(await t.drain()).toEqual({ ...NONE, completed: 2, retried: 1, snoozed: 1, dead: 1 })
    expect(await t.jobs.countBy('state')).toEqual({ completed: 2, pending: 3, dead: 1 })
    expect(await t.drain()).toEqual(NONE)
    expect(await t.jobs.workers()).toEqual([])
  })

  it('runs what handlers enqueue, also into queues that nobody has named', async () => {
    const { t, seen } = kitOf(async ({ payload, enqueue }) => {
      if (payload === 'first') {
        await enqueue(other, 'second')
        await t.jobs.enqueue(work, 'third', { queue: 'x' })
      }
      if (payload === 'third') await enqueue(other, 'fourth', { queue: 'y' })
    })
    await t.jobs.enqueue(work, 'first')
    expect(await t.drain()).toEqual({ ...NONE, completed: 4 })
    expect(seen).toEqual(['first', 'second', 'third', 'fourth'])
    t.assertNotEnqueued()
  })

  it('runs one job at a time, by priority, run time and order, as if all queues were one', async () => {
    let running = 0
    let most = 0
    const { t, seen } = kitOf(async () => {
      most = Math.max(most, ++running)
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve)) // a worker with room would claim meanwhile
      running--
    })
    await t.clock.advance('1h')
    await t.jobs.enqueueMany([
      work.with('d'),
      other.with('e'),
      work.with('f'),
      other.with('b', { priority: 'high' }),
      work.with('a', { priority: 'critical' }),
      other.with('j', { priority: 'background' }),
      other.with('g', { priority: 'low' }),
      other.with('h', { priority: 'low', queue: 'x' }), // while these run, its own queue has to wait as well
      other.with('i', { priority: 'low', queue: 'x' }),
      other.with('c', { runAt: '2026-01-01T00:30:00Z' }),
    ])
    await t.drain()
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])
    expect(most).toBe(1)
  })

  it('lets handlers take their real time, while the clock stands still', async () => {
    const { t } = kitOf(() => new Promise((resolve) => setTimeout(resolve, 20)), { timeout: '1ms' })
    const now = t.clock.now()
    await t.jobs.enqueueMany(work, [1, 2])
    expect(await t.drain()).toEqual({ ...NONE, completed: 2 })
    expect(t.clock.now()).toBe(now)
  })

  it('waits for a handler that only its time limit ends, when the clock is moved meanwhile', async () => {
    const { t } = kitOf(() => new Promise(() => {}), { timeout: '30s', maxAttempts: 1 })
    await t.jobs.enqueue(work)
    const draining = t.drain()
    await t.clock.advance('30s')
    expect(await draining).toEqual({ ...NONE, timedOut: 1 })
  })

  it('counts jobs that are cancelled or taken away while they run', async () => {
    const { t } = kitOf(async ({ job, payload, signal }) => {
      if (payload === 'kill') return t.jobs.kill(job.id)
      await t.jobs.cancel(job.id)
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
      await t.clock.advance('1s')
      return aborted
    })
    await t.jobs.enqueueMany(work, ['kill', 'cancel'])
    expect(await t.drain()).toEqual({ ...NONE, cancelled: 1, lost: 1 })
  })

  it('ends the runs of whoever took a job by hand and let its lease run out, as any worker does', async () => {
    const { t, seen } = kitOf(() => {})
    await t.jobs.enqueueMany(work, ['again', 'over'])
    await t.jobs.enqueue(work, 'last', { maxAttempts: 1 })
    const runs = await t.jobs.claim('default', { max: 3, lease: '60s' })
    await t.jobs.cancel(runs[1]!.id)
    expect(await t.drain()).toEqual(NONE)
    await t.clock.advance('60s')
    expect(await t.drain()).toEqual({ ...NONE, retried: 1, cancelled: 1, dead: 1, completed: 1 })
    expect(seen).toEqual(['again'])
  })

  it('leaves paused queues alone, until a handler resumes one', async () => {
    const { t, seen } = kitOf(async ({ payload }) => {
      if (payload === 'resume') await t.jobs.resume('others')
    })
    await t.jobs.enqueue(other, 'waits', { priority: 'critical' })
    await t.jobs.enqueue(other, 'too')
    await t.jobs.pause('others')
    await t.jobs.enqueue(work, 'runs')
    expect(await t.drain({ scheduled: true })).toEqual({ ...NONE, completed: 1 })
    expect(t.enqueued(other)).toHaveLength(2)
    await t.jobs.enqueue(work, 'resume')
    expect(await t.drain()).toEqual({ ...NONE, completed: 3 })
    expect(seen).toEqual(['runs', 'resume', 'waits', 'too'])
  })

  it('can be told which queues', async () => {
    const { t, seen } = kitOf(() => {})
    await t.jobs.enqueueMany([work.with(1), other.with(2), work.with(3, { queue: 'x' }), work.with(4, { queue: 'x', delay: '1h' })])
    await t.drain({ queue: 'others' })
    expect(seen).toEqual([2])
    await t.drain({ queue: ['x', 'others'], scheduled: true })
    expect(seen).toEqual([2, 3, 4])
    expect(t.assertEnqueued(work).payload).toBe(1)
  })

  it('fails when a job is due that nobody can run, after it has run the others', async () => {
    const { t, seen } = kitOf(() => {}, {})
    const unknown = defineTask('unknown', { queue: 'u', priority: 'critical' })
    await t.jobs.enqueueMany(unknown, [1, 2])
    await t.jobs.enqueue(work, 'runs')
    await expect(t.drain()).rejects.toMatchObject({
      code: 'NO_HANDLER',
      message: expect.stringContaining('drain: no handler for unknown ×2, due in the queue u; ') as string,
    })
    expect(seen).toEqual(['runs'])
    expect(await t.drain({ queue: 'default' })).toEqual(NONE)
    const bare = createTestKit()
    await bare.jobs.enqueue(work, 1, { delay: '1h' })
    expect(await bare.drain()).toEqual(NONE)
    await expect(bare.drain({ scheduled: true })).rejects.toMatchObject({ code: 'NO_HANDLER' })
  })

  it('is refused while the worker of the kit is at work', async () => {
    const { t, seen } = kitOf(() => {})
    await t.worker.start()
    await expect(t.drain()).rejects.toMatchObject({ code: 'WORKER_STATE' })
    await t.worker.stop()
    await t.jobs.enqueue(work, 1)
    await t.drain()
    expect(seen).toEqual([1])
  })

  it('goes through middleware, observers and follow-ups, and past gates and services', async () => {
    const told: string[] = []
    const plugin: Plugin = {
      name: 'all',
      setup({ run, on, followUp, gate, service }) {
        let runs = 0
        run(async (call, next) => {
          told.push(`run ${++runs}`)
          return next(call)
        })
        on('job.completed', ({ job }) => void told.push(job.task))
        followUp(({ task }) => (task === 'work' ? [other.with('follows')] : []))
        gate({ name: 'shut', take: () => ({ granted: 0, retryInMs: 1_000 }), refund: () => {} })
        service({ name: 'busy', run: () => new Promise(() => {}) })
      },
    }
    const { t, seen } = kitOf(() => {}, { plugins: [plugin] })
    await t.jobs.enqueue(work, 'leads')
    expect(await t.drain()).toEqual({ ...NONE, completed: 2 })
    expect(seen).toEqual(['leads', 'follows'])
    expect(told).toEqual(['run 1', 'work', 'run 2', 'other']) // one setup, though each queue had a worker
  })

  it('refuses options that mean nothing', async () => {
    const { t } = kitOf(() => {})
    const code = (options: unknown) => t.drain(options as never).then(String, (error: { code: string }) => error.code)
    expect(await code({ schedule: true })).toBe('UNKNOWN_OPTION')
    expect(await code({ scheduled: false })).toBe('INVALID_OPTION')
    expect(await code({ scheduled: 'soon' })).toBe('INVALID_DURATION')
    expect(await code({ scheduled: new Date(0) })).toBe('INVALID_OPTION')
    expect(await code({ limit: 0 })).toBe('INVALID_OPTION')
    expect(await code({ queue: '' })).toBe('INVALID_NAME')
  })
})

describe('drain with scheduled', () => {
  it('moves the clock to each next job, retries and snoozes included, until nothing is pending', async () => {
    const { t, seen } = kitOf(({ payload, attempt }) => {
      const at = new Date(t.clock.now()).toISOString().slice(11, 19)
      seen.push(at)
      if (payload === 'retry' && attempt < 3) throw new Error('no')
      if (payload === 'snooze' && seen.filter((what) => what === 'snooze').length === 1) throw snooze('30m')
    })
    await t.jobs.enqueue(work, 'retry', { retry: fixed('10m') })
    await t.jobs.enqueue(work, 'snooze', { delay: '5m' })
    await t.jobs.enqueue(other, 'later', { runAt: '2026-01-01T01:00:00Z' })
    expect(await t.drain({ scheduled: true })).toEqual({ ...NONE, completed: 3, retried: 2, snoozed: 1 })
    expect(seen).toEqual([
      ...['retry', '00:00:00', 'snooze', '00:05:00', 'retry', '00:10:00', 'retry', '00:20:00'],
      ...['snooze', '00:35:00', 'later', '01:00:00'],
    ])
    expect(new Date(t.clock.now())).toEqual(new Date('2026-01-01T01:00:00Z'))
  })

  it.each([
    ['1h'],
    [3_600_000],
    [new Date('2026-01-01T01:00:00Z')],
    ['2026-01-01T01:00:00Z'],
    [{ epochMilliseconds: Date.UTC(2026, 0, 1, 1) }],
  ])('goes until %s, and leaves the clock there', async (scheduled) => {
    const { t, seen } = kitOf(() => {})
    await t.jobs.enqueueMany([work.with(1), work.with(2, { delay: '1h' }), work.with(3, { delay: 3_600_001 })])
    await t.drain({ scheduled })
    expect(seen).toEqual([1, 2])
    expect(new Date(t.clock.now())).toEqual(new Date('2026-01-01T01:00:00Z'))
    expect(await t.drain({ scheduled: '0ms' })).toEqual(NONE)
    t.assertEnqueued(work, 3)
  })

  it('leaves the clock where it was told, also when nothing is due until then', async () => {
    const { t } = kitOf(() => {})
    await t.drain({ scheduled: '1h' })
    expect(new Date(t.clock.now())).toEqual(new Date('2026-01-01T01:00:00Z'))
  })

  it('tries a job to its bitter end', async () => {
    const { t } = kitOf(() => {
      throw new Error('no')
    })
    await t.jobs.enqueue(work)
    expect(await t.drain({ scheduled: true })).toEqual({ ...NONE, retried: 24, dead: 1 })
  })
})

describe('the limit of a drain', () => {
  it.each<[string, (context: HandlerContext<unknown>) => unknown]>([
    ['enqueues itself', ({ enqueue }) => enqueue(work, {})],
    ['snoozes', () => Promise.reject(snooze(0))],
    ['snoozes for a day', () => Promise.reject(snooze('1d'))],
    ['enqueues itself for later', ({ enqueue }) => enqueue(work, {}, { delay: '1d' })],
  ])('stops a job that %s for ever', async (_, run) => {
    const { t, seen } = kitOf(run)
    await t.jobs.enqueue(work, {})
    await expect(t.drain({ scheduled: true, limit: 20 })).rejects.toMatchObject({
      code: 'ERR_ASSERTION',
      message: [
        'drain has run jobs 20 times, and there is more to do: does a job enqueue, snooze or retry itself for ever?',
        'ran: work ×20',
        'due: work',
        "Bound the time, drain({ scheduled: '1d' }), or give a higher limit if so many are meant.",
      ].join('\n'),
    })
    expect(seen).toHaveLength(20)
  })

  it('is a thousand unless told', async () => {
    const { t } = kitOf(() => {})
    await t.jobs.enqueueMany(
      work,
      Array.from({ length: 1_001 }, (_, n) => n),
    )
    await expect(t.drain()).rejects.toThrow('drain has run jobs 1000 times')
    expect(await t.drain({ limit: 1 })).toEqual({ ...NONE, completed: 1 })
  })

  it('allows exactly as many as it says', async () => {
    const { t } = kitOf(() => {})
    await t.jobs.enqueueMany(work, [1, 2, 3])
    expect(await t.drain({ limit: 3 })).toEqual({ ...NONE, completed: 3 })
  })
})
