import { expect, it } from 'vitest'
import { fixed } from '../src/core/retry.ts'
import { defineTask } from '../src/core/task.ts'
import type { EventType } from '../src/extend/events.ts'
import type { JobRecord } from '../src/store/admin.ts'
import type { ClaimRequest } from '../src/store/types.ts'
import { type HandlerContext, handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, eavesdrop, forEachBench, interpose, turns, work } from './worker.ts'

const effect = defineTask('effect', { queue: 'effects' })

interface Ran {
  readonly record: JobRecord
  /** How many effects have been committed. */
  readonly effects: number
  readonly events: readonly EventType[]
}

// Runs one job, with a minute between two attempts, until nothing is left to do; `meanwhile` is done once it runs.
async function runOne(bench: Bench, run: (context: HandlerContext<unknown>) => unknown, meanwhile?: (id: string) => unknown): Promise<Ran> {
  const { plugin, types } = eavesdrop()
  const { id } = await bench.jobs.enqueue(work, {}, { retry: fixed('1m'), timeout: '5m' })
  const worker = await bench.started({ handlers: [handle(work, run)], plugins: [plugin] })
  await bench.until(() => worker.stats().started === 1)
  await meanwhile?.(id)
  await bench.settled(worker.idle())
  await worker.stop()
  return {
    record: (await bench.find(id))!,
    effects: await bench.jobs.count({ queue: 'effects' }),
    events: types().filter((type) => type.startsWith('job.')),
  }
}

// Resolves once the worker has been told that someone wants the job to end.
async function cancelWhile(bench: Bench, run: (context: HandlerContext<unknown>) => unknown, command: 'cancel' | 'retry'): Promise<Ran> {
  const permits = createPermits()
  return runOne(
    bench,
    async (context) => {
      if (context.attempt > 1) return
      await permits.take()
      await run(context)
    },
    async (id) => {
      await bench.jobs[command](id)
      permits.add(1)
    },
  )
}

forEachBench('ctx.commit with a function', (open) => {
  it('[I10] its effects and the completion land together', async () => {
    const bench = await open()
    let returned: unknown
    const { record, effects, events } = await runOne(bench, async ({ commit }) => {
      returned = await commit(async (tx) => {
        expect(tx.db).toBeDefined()
        await tx.enqueue(effect, {})
        return { kept: true }
      })
      return 'what the handler returns does not count any more'
    })
    expect(returned).toEqual({ kept: true })
    expect(record).toMatchObject({ state: 'completed', attempt: 1 })
    if (bench.store.facets.results) expect(JSON.parse(record.result!)).toEqual({ kept: true })
    expect(effects).toBe(1)
    expect(events).toEqual(['job.started', 'job.completed'])
  })

  it('[I10] nothing lands when it throws, and the job is tried again', async () => {
    const bench = await open()
    const { record, effects, events } = await runOne(bench, ({ commit }) =>
      commit(async (tx) => {
        await tx.enqueue(effect, {})
        throw new RangeError('not like this')
      }),
    )
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: { name: 'RangeError' } })
    expect(effects).toBe(0)
    expect(events).toEqual(['job.started', 'job.retrying'])
  })

  it('[I10] nothing lands when a cancel has been requested', async () => {
    const bench = await open()
    const codes: unknown[] = []
    const { record, effects, events } = await cancelWhile(
      bench,
      ({ commit }) => commit((tx) => tx.enqueue(effect, {})).catch((error: { code: string }) => void codes.push(error.code)),
      'cancel',
    )
    expect(codes).toEqual(['CANCELLED'])
    expect(record).toMatchObject({ state: 'cancelled' })
    expect(effects).toBe(0)
    expect(events).toEqual(['job.started', 'job.cancelled'])
  })

  it('[I1] [I10] nothing lands when the run is not this worker’s any more', async () => {
    const bench = await open()
    const codes: unknown[] = []
    const { record, effects } = await cancelWhile(
      bench,
      ({ commit }) => commit((tx) => tx.enqueue(effect, {})).catch((error: { code: string }) => void codes.push(error.code)),
      'retry',
    )
    expect(codes).toEqual(['LEASE_LOST'])
    expect(record).toMatchObject({ state: 'completed', attempt: 2 })
    expect(effects).toBe(0)
  })

  it('[I10] nothing lands once the attempt has timed out', async () => {
    const bench = await open()
    const permits = createPermits()
    const codes: unknown[] = []
    const { record, effects } = await runOne(
      bench,
      async ({ commit }) => {
        await permits.take()
        await commit((tx) => tx.enqueue(effect, {})).catch((error: { code: string }) => void codes.push(error.code))
      },
      async () => {
        await bench.clock.advance('5m')
        await turns()
        permits.add(1)
        await bench.until(() => codes.length === 1)
      },
    )
    expect(codes).toEqual(['LEASE_LOST'])
    expect(record).toMatchObject({ error: { code: 'TIMED_OUT' } })
    expect(effects).toBe(0)
  })

  it('[I10] nor while that has not been written yet', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const answers = createPermits()
    const codes: unknown[] = []
    // The outcome of the attempt waits on its way to the store.
    const store = interpose(bench.store, async (verb, call, [request, tx]) => {
      const isOutcome = verb === 'finish' ? tx === undefined : verb === 'claim' && (request as ClaimRequest).finish?.length
      if (isOutcome) await answers.take()
      return call()
    })
    const { id } = await bench.jobs.enqueue(work, {}, { timeout: '1s', maxAttempts: 1 })
    const handler = handle(work, async ({ commit, signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await commit((tx) => tx.enqueue(effect, {})).catch((error: { code: string }) => void codes.push(error.code))
    })
    await bench.started({ store, handlers: [handler], plugins: [plugin] })
    await bench.until(() => answers.waiting === 1, 2_000)
    await bench.until(() => codes.length === 1, 1_000)
    expect(await bench.find(id)).toMatchObject({ state: 'running' })
    answers.add(100)
    await bench.until(async () => (await bench.find(id))?.state === 'timed_out')
    expect(codes).toEqual(['LEASE_LOST'])
    expect(await bench.jobs.count({ queue: 'effects' })).toBe(0)
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.started', 'job.timed_out'])
  })

  it('a second commit is refused and writes nothing', async () => {
    const bench = await open()
    const codes: unknown[] = []
    const { record, effects } = await runOne(bench, async ({ commit }) => {
      await commit((tx) => tx.enqueue(effect, {}))
      await commit((tx) => tx.enqueue(effect, {})).catch((error: { code: string }) => void codes.push(error.code))
    })
    expect(codes).toEqual(['WORKER_STATE'])
    expect(record).toMatchObject({ state: 'completed' })
    expect(effects).toBe(1)
  })

  it('a commit that failed may be tried again', async () => {
    const bench = await open()
    const { record, effects } = await runOne(bench, async ({ commit }) => {
      await expect(commit(() => Promise.reject(new Error('once')))).rejects.toThrow('once')
      await commit((tx) => tx.enqueue(effect, {}))
    })
    expect(record).toMatchObject({ state: 'completed', attempt: 1 })
    expect(effects).toBe(1)
  })

  it('a job that is committed stays completed when its handler throws', async () => {
    const bench = await open()
    const { record, effects, events } = await runOne(bench, async ({ commit }) => {
      await commit((tx) => tx.enqueue(effect, {}))
      throw new Error('afterwards')
    })
    expect(record).toMatchObject({ state: 'completed', attempt: 1 })
    expect(effects).toBe(1)
    expect(events).toEqual(['job.started', 'job.completed'])
    expect(bench.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining('after it had committed') }),
    )
  })

  it('[I4] follow-ups land in the same transaction', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = bench.worker({
      handlers: [handle(work, ({ commit }) => commit(() => 'done'))],
      plugins: [{ name: 'after', setup: ({ followUp }) => followUp(({ state }) => [effect.with({ state })]) }],
    })
    await bench.settled(worker.runOnce())
    expect(await bench.find(id)).toMatchObject({ state: 'completed' })
    expect((await bench.jobs.list({ queue: 'effects' })).jobs).toMatchObject([{ payload: { state: 'completed' } }])
  })
})

forEachBench('ctx.commit with a transaction of one’s own', (open) => {
  it('[I10] its effects and the completion land together', async () => {
    const bench = await open()
    const { record, effects, events } = await runOne(bench, ({ commit }) =>
      bench.store.transaction(async (tx) => {
        await bench.jobs.in(tx.db).enqueue(effect, {})
        await commit(tx.db as object, { kept: true })
      }),
    )
    expect(record).toMatchObject({ state: 'completed', attempt: 1 })
    if (bench.store.facets.results) expect(JSON.parse(record.result!)).toEqual({ kept: true })
    expect(effects).toBe(1)
    expect(events).toEqual(['job.started', 'job.completed'])
  })

  it('[I10] one that was rolled back completes nothing: the run has failed', async () => {
    const bench = await open()
    const { record, effects, events } = await runOne(bench, async ({ commit }) => {
      await bench.store
        .transaction(async (tx) => {
          await bench.jobs.in(tx.db).enqueue(effect, {})
          await commit(tx.db as object)
          throw new Error('rolled back')
        })
        .catch(() => {})
    })
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: { code: 'COMMIT_MISSING' } })
    expect(effects).toBe(0)
    expect(events).toEqual(['job.started', 'job.retrying'])
  })

  it('[I10] one that is still open when the handler returns completes the job with its effects, or does neither', async () => {
    const bench = await open()
    const gate = createPermits()
    let transaction: Promise<unknown> | undefined
    const { record, effects } = await runOne(
      bench,
      async ({ commit }) => {
        await new Promise<void>((committed) => {
          transaction = bench.store
            .transaction(async (tx) => {
              await bench.jobs.in(tx.db).enqueue(effect, {})
              await commit(tx.db as object)
              committed()
              await gate.take()
            })
            .catch(() => {})
        })
      },
      async () => {
        await bench.until(() => gate.waiting === 1)
        await turns()
        gate.add(1)
        await bench.settled(transaction!)
      },
    )
    expect([record.state, effects]).toEqual(record.state === 'completed' ? ['completed', 1] : ['pending', 0])
    expect(record.attempt).toBe(1)
  })

  it('what the handler threw stays its error when that has rolled the transaction back', async () => {
    const bench = await open()
    const { record, effects } = await runOne(bench, ({ commit }) =>
      bench.store.transaction(async (tx) => {
        await bench.jobs.in(tx.db).enqueue(effect, {})
        await commit(tx.db as object)
        throw new RangeError('the real reason')
      }),
    )
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: { name: 'RangeError', message: 'the real reason' } })
    expect(effects).toBe(0)
  })

  it('refuses what is no transaction of this store', async () => {
    const bench = await open()
    const codes: unknown[] = []
    await runOne(bench, async ({ commit }) => {
      await commit({ query: () => {} }).catch((error: { code: string }) => void codes.push(error.code))
    })
    expect(codes).toEqual(['TX_UNSUPPORTED'])
  })
})
