import { expect, it } from 'vitest'
import { sleep } from '../src/core/clock.ts'
import type { Ids } from '../src/core/ids.ts'
import { discard, retryAfter, snooze } from '../src/core/outcome.ts'
import { exponential, fixed, type RetryFunction, type RetryPolicy } from '../src/core/retry.ts'
import { defineTask, type EnqueueOptions, type TaskOptions } from '../src/core/task.ts'
import type { JobRecord } from '../src/store/admin.ts'
import { type HandlerContext, handle } from '../src/worker/handler.ts'
import type { WorkerOptions } from '../src/worker/options.ts'
import { type Bench, eavesdrop, forEachBench, work } from './worker.ts'

interface Attempts {
  readonly task?: TaskOptions
  readonly job?: EnqueueOptions
  readonly worker?: Partial<WorkerOptions>
}

// Runs one job until it has come to an end or waits for another attempt; then stops.
async function runOne(bench: Bench, run: (context: HandlerContext<unknown>) => unknown, { task, job, worker }: Attempts = {}) {
  const tried = defineTask('tried', task)
  const { id } = await bench.jobs.enqueue(tried, {}, job)
  const made = bench.worker({ handlers: [handle(tried, run)], ...worker })
  const once = async (): Promise<JobRecord> => {
    await bench.settled(made.runOnce())
    return (await bench.find(id))!
  }
  return { id, once, record: await once() }
}

const boom = (): never => {
  throw new TypeError('boom')
}

function waitOf({ runAt }: JobRecord, { clock }: Bench): number {
  return runAt - clock.now()
}

forEachBench('the outcomes of a run', (open) => {
  it('a failed attempt counts, keeps its error and is tried again by the policy', async () => {
    const bench = await open()
    const { record } = await runOne(bench, boom, { job: { retry: fixed('30s') } })
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: { name: 'TypeError', message: 'boom' } })
    expect(waitOf(record, bench)).toBe(30_000)
  })

  it('the default grows exponentially from 2 s, with the jitter that the ids give', async () => {
    const bench = await open()
    const ids: Ids = { next: () => bench.ids.next(), random: () => 0.75 }
    const { once, record } = await runOne(bench, boom, { worker: { ids } })
    expect(waitOf(record, bench)).toBe(2_200)
    await bench.clock.advance(2_200)
    expect(waitOf(await once(), bench)).toBe(4_400)
  })

  it.each<{ readonly name: string; readonly random: number; readonly waits: readonly number[] }>([
    { name: 'lowest', random: 0, waits: [500, 1_000, 1_500] },
    { name: 'middle', random: 0.5, waits: [1_000, 2_000, 3_000] },
  ])('exponential with jitter and a cap: the $name of each wait', async ({ random, waits }) => {
    const bench = await open()
    const ids: Ids = { next: () => bench.ids.next(), random: () => random }
    const policy = exponential({ base: '1s', jitter: 0.5, max: '3s' })
    const { once, record } = await runOne(bench, boom, { job: { retry: policy }, worker: { ids } })
    const seen = [waitOf(record, bench)]
    for (const wait of waits.slice(0, -1)) {
      await bench.clock.advance(wait)
      seen.push(waitOf(await once(), bench))
    }
    expect(seen).toEqual(waits)
  })

  it('a function on the task or the worker decides, with the attempt and the error', async () => {
    const bench = await open()
    const asked: unknown[] = []
    const policy: RetryFunction = (attempt, error) => {
      asked.push([attempt, (error as Error).message])
      return attempt < 2 ? '7s' : false
    }
    const { once, record } = await runOne(bench, boom, { task: { retry: policy } })
    expect(waitOf(record, bench)).toBe(7_000)
    await bench.clock.advance('7s')
    expect(await once()).toMatchObject({ state: 'dead', attempt: 2 })
    expect(asked).toEqual([
      [1, 'boom'],
      [2, 'boom'],
    ])
    const other = await runOne(bench, boom, { worker: { retry: () => 9_000 } })
    expect(waitOf(other.record, bench)).toBe(9_000)
  })

  it('a retry function that throws is logged, and the default policy decides', async () => {
    const bench = await open()
    const { record } = await runOne(bench, boom, { worker: { retry: boom, ids: { next: () => bench.ids.next(), random: () => 0.5 } } })
    expect(waitOf(record, bench)).toBe(2_000)
    expect(bench.logged).toContainEqual(expect.objectContaining({ level: 'error', message: expect.stringContaining('retry function') }))
  })

  it.each<{ readonly what: string; readonly error: () => Error; readonly expected: object }>([
    { what: 'code', error: () => Object.assign(new Error('x'), { code: 'ENOENT' }), expected: { state: 'dead', attempt: 1 } },
    { what: 'name', error: () => Object.assign(new Error('x'), { name: 'Busy' }), expected: { state: 'pending', wait: 60_000 } },
    { what: 'class', error: () => new RangeError('x'), expected: { state: 'pending', wait: 5_000 } },
    { what: 'none of them', error: () => new Error('x'), expected: { state: 'pending', wait: 1_000 } },
  ])('the policy may differ by an error’s $what', async ({ error, expected }) => {
    const bench = await open()
    const retry = fixed('1s', { errors: { ENOENT: 'dead', Busy: fixed('1m'), RangeError: fixed('5s') } })
    const { record } = await runOne(bench, () => Promise.reject(error()), { job: { retry } })
    expect(record.state === 'pending' ? { ...record, wait: waitOf(record, bench) } : record).toMatchObject(expected)
  })

  it('the job goes before its task, the task before the worker, the worker before the default', async () => {
    const bench = await open()
    const wait = async (attempts: Attempts): Promise<number> => waitOf((await runOne(bench, boom, attempts)).record, bench)
    const [job, task, worker] = [1_000, 2_000, 3_000].map((ms): { retry: RetryPolicy } => ({ retry: fixed(ms) }))
    expect(await wait({ job: job!, task: task!, worker: worker! })).toBe(1_000)
    expect(await wait({ task: task!, worker: worker! })).toBe(2_000)
    expect(await wait({ worker: worker! })).toBe(3_000)
    expect(await wait({ job: job!, task: { retry: () => 4_000 } })).toBe(1_000)
    expect(await wait({ task: { retry: () => 4_000 }, worker: worker! })).toBe(4_000)
  })

  it.each([
    { own: 3, cap: undefined, runs: 3 },
    { own: 1, cap: undefined, runs: 1 },
    { own: 5, cap: 2, runs: 2 },
    { own: 2, cap: 5, runs: 2 },
  ])('$own attempts, at most $cap of the worker: $runs runs, then dead', async ({ own, cap, runs }) => {
    const bench = await open()
    let started = 0
    const run = (): never => {
      started++
      return boom()
    }
    const worker = cap === undefined ? {} : { maxAttempts: cap }
    const { once } = await runOne(bench, run, { job: { maxAttempts: own, retry: fixed(0) }, worker })
    const record = await once()
    expect(started).toBe(runs)
    expect(record).toMatchObject({ state: 'dead', attempt: runs, error: { message: 'boom' }, endedAt: bench.clock.now() })
  })

  it('a timeout is a failed attempt, and only the last one leaves the job timed out', async () => {
    const bench = await open()
    const reasons: unknown[] = []
    const run = ({ signal }: HandlerContext<unknown>): Promise<void> => {
      signal.addEventListener('abort', () => reasons.push(signal.reason.code))
      return new Promise(() => {}) // a handler that never ends
    }
    const { once, record } = await runOne(bench, run, { job: { timeout: '2s', maxAttempts: 2, retry: fixed('1m') } })
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: { code: 'TIMED_OUT' } })
    await bench.clock.advance('1m')
    expect(await once()).toMatchObject({ state: 'timed_out', attempt: 2, error: { code: 'TIMED_OUT' } })
    expect(reasons).toEqual(['TIMED_OUT', 'TIMED_OUT'])
  })

  it('the time limit of the job goes before that of its task and of the worker', async () => {
    const bench = await open()
    const ran = async (attempts: Attempts): Promise<number> => {
      const { record } = await runOne(bench, () => new Promise(() => {}), { ...attempts, job: { maxAttempts: 1, ...attempts.job } })
      return record.endedAt! - record.startedAt!
    }
    expect(await ran({ job: { timeout: 100 }, task: { timeout: 200 }, worker: { timeout: 300 } })).toBe(100)
    expect(await ran({ task: { timeout: 200 }, worker: { timeout: 300 } })).toBe(200)
    expect(await ran({ worker: { timeout: 300 } })).toBe(300)
  })

  it('what a handler does after its time was up changes nothing, and nobody hears of it', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const { id } = await bench.jobs.enqueue(work, {}, { timeout: 100, maxAttempts: 1 })
    let late = false
    const handler = handle(work, async () => {
      await sleep(bench.clock, 500)
      late = true
    })
    await bench.started({ handlers: [handler], plugins: [plugin] })
    await bench.until(() => types().includes('job.timed_out'))
    const record = await bench.find(id)
    expect(record).toMatchObject({ state: 'timed_out', error: { code: 'TIMED_OUT' } })
    await bench.until(() => late)
    await bench.clock.advance('1s')
    expect(await bench.find(id)).toEqual(record)
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.started', 'job.timed_out'])
  })

  it('snooze: later, and the attempt does not count', async () => {
    const bench = await open()
    const attempts: number[] = []
    const run = ({ attempt }: HandlerContext<unknown>): void => {
      attempts.push(attempt)
      if (attempts.length < 4) throw snooze('5m')
    }
    const { once, record } = await runOne(bench, run, { job: { maxAttempts: 1 } })
    expect(record).toMatchObject({ state: 'pending', attempt: 0 })
    expect(waitOf(record, bench)).toBe(300_000)
    for (let n = 0; n < 2; n++) {
      await bench.clock.advance('5m')
      await once()
    }
    await bench.clock.advance('5m')
    expect(await once()).toMatchObject({ state: 'completed', attempt: 1 })
    expect(attempts).toEqual([1, 1, 1, 1])
  })

  it('discard: dead at the first attempt', async () => {
    const bench = await open()
    const { record } = await runOne(bench, () => {
      throw discard(new RangeError('no such customer'))
    })
    expect(record).toMatchObject({ state: 'dead', attempt: 1, error: { name: 'RangeError', message: 'no such customer' } })
  })

  it('retryAfter: then, whatever the policy says; and dead when the attempts are used up', async () => {
    const bench = await open()
    const run = (): never => {
      throw retryAfter('45s', new Error('slow down'))
    }
    const { once, record } = await runOne(bench, run, { job: { maxAttempts: 2, retry: fixed('1s') } })
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: { message: 'slow down' } })
    expect(waitOf(record, bench)).toBe(45_000)
    await bench.clock.advance('45s')
    expect(await once()).toMatchObject({ state: 'dead', attempt: 2, error: { message: 'slow down' } })
  })

  it('a signal that is returned means what it means when it is thrown', async () => {
    const bench = await open()
    expect((await runOne(bench, () => discard('no'))).record).toMatchObject({ state: 'dead', error: { message: 'no' } })
    expect((await runOne(bench, async () => snooze('1m'))).record).toMatchObject({ state: 'pending', attempt: 0 })
    expect((await runOne(bench, () => retryAfter('2m'))).record).toMatchObject({ state: 'pending', attempt: 1 })
  })

  it('what passes itself off as an outcome and is none does not complete the job', async () => {
    const bench = await open()
    const forged = Object.assign(new Error('later'), { [Symbol.for('triphammer.signal')]: { kind: 'snooze', delayMs: Number.NaN } })
    const { record } = await runOne(bench, () => Promise.reject(forged))
    expect(record).toMatchObject({ state: 'dead', attempt: 1, error: { code: 'INVALID_DURATION' } })
    expect(bench.logged).toContainEqual(expect.objectContaining({ level: 'error', message: expect.stringContaining('no outcome') }))
  })

  it('start and end are those of the handler, however long the job was held and its outcome waited', async () => {
    const bench = await open()
    const ids = (await bench.jobs.enqueueMany(work, Array.from({ length: 4 }))).map(({ id }) => id)
    const from = bench.clock.now()
    const worker = bench.worker({
      handlers: [handle(work, () => sleep(bench.clock, 50))],
      queues: { default: { concurrency: 1, prefetch: 4 } },
    })
    await bench.settled(worker.runOnce())
    const times = await Promise.all(ids.map(async (id) => (await bench.find(id))!))
    expect(times.map(({ startedAt, endedAt }) => [startedAt! - from, endedAt! - from])).toEqual([
      [0, 50],
      [50, 100],
      [100, 150],
      [150, 200],
    ])
  })
})

forEachBench(
  'results',
  (open) => {
    it('what a handler returns is kept', async () => {
      const bench = await open()
      const { id } = await runOne(bench, async () => ({ sent: true, at: new Date(0) }))
      expect(await bench.jobs.get(id)).toMatchObject({ state: 'completed', result: { sent: true, at: '1970-01-01T00:00:00.000Z' } })
    })

    it.each<{ readonly what: string; readonly result: () => unknown }>([
      { what: 'a function', result: () => () => {} },
      { what: 'a BigInt', result: () => ({ n: 1n }) },
      {
        what: 'a cycle',
        result: () => {
          const cycle: { self?: unknown } = {}
          cycle.self = cycle
          return cycle
        },
      },
      { what: 'too large', result: () => 'x'.repeat(1_048_577) },
    ])('a result that cannot be kept ($what) is logged, and the job is completed without it', async ({ result }) => {
      const bench = await open()
      const { record } = await runOne(bench, result)
      expect(record).toMatchObject({ state: 'completed', attempt: 1 })
      expect(record).not.toHaveProperty('result')
      expect(bench.logged).toContainEqual(expect.objectContaining({ level: 'error', fields: expect.objectContaining({ task: 'tried' }) }))
    })
  },
  { needs: ['results'] },
)
