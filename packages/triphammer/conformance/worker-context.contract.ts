import { expect, it } from 'vitest'
import { z } from 'zod'
import { TriphammerError } from '../src/core/errors.ts'
import { fixed } from '../src/core/retry.ts'
import { defineTask } from '../src/core/task.ts'
import { handle } from '../src/worker/handler.ts'
import { createPermits, forEachBench, interpose, turns, work } from './worker.ts'

forEachBench('what a handler is given', (open) => {
  it('its job, its payload, its attempt, and a log that names the job in every line', async () => {
    const bench = await open()
    const seen: unknown[] = []
    const { id } = await bench.jobs.enqueue(work, { to: 'ann' }, { priority: 'high', maxAttempts: 7 })
    const at = new Date(bench.clock.now())
    const worker = bench.worker({
      handlers: [
        handle(work, ({ payload, job, attempt, log, signal, cancelRequested }) => {
          seen.push(payload, job, attempt, signal.aborted, cancelRequested)
          log.warn({ note: 1 }, 'a line of the handler')
        }),
      ],
    })
    await bench.settled(worker.runOnce())
    const job = { id, task: 'work', queue: 'default', priority: -10, attempt: 1, maxAttempts: 7, createdAt: at, runAt: at }
    expect(seen).toEqual([{ to: 'ann' }, job, 1, false, false])
    expect(bench.logged).toContainEqual({
      level: 'warn',
      message: 'a line of the handler',
      fields: { job: id, task: 'work', attempt: 1, note: 1 },
    })
  })

  it('enqueue: the job is in whatever becomes of the handler', async () => {
    const bench = await open()
    const other = defineTask('other', { queue: 'others', input: z.object({ n: z.number() }) })
    const codes: unknown[] = []
    const worker = bench.worker({
      handlers: [
        handle(work, async ({ enqueue }) => {
          expect(await enqueue(other, { n: 1 }, { priority: 'low' })).toMatchObject({ status: 'inserted' })
          await enqueue(other, { n: 'one' } as never).catch((error: { code: string }) => void codes.push(error.code))
          throw new Error('boom')
        }),
      ],
    })
    const { id } = await bench.jobs.enqueue(work, {}, { retry: fixed('1m') })
    await bench.settled(worker.runOnce())
    expect(await bench.find(id)).toMatchObject({ state: 'pending', error: { message: 'boom' } })
    expect((await bench.jobs.list({ queue: 'others' })).jobs).toMatchObject([{ payload: { n: 1 }, priority: 10, state: 'pending' }])
    expect(codes).toEqual(['PAYLOAD_INVALID'])
  })
})

forEachBench(
  'progress',
  (open) => {
    it('is to be seen within a pulse, and the last one stays with the job', async () => {
      const bench = await open()
      const permits = createPermits()
      const { id } = await bench.jobs.enqueue(work, {})
      const shown = async (): Promise<unknown> => (await bench.jobs.get(id))!.progress
      await bench.started({
        handlers: [
          handle(work, async ({ progress }) => {
            progress({ done: 1 })
            progress({ done: 2 })
            await permits.take()
            progress({ done: 3 })
            await permits.take()
          }),
        ],
      })
      await bench.until(() => permits.waiting === 1)
      await bench.clock.advance('1s')
      await turns()
      expect(await shown()).toEqual({ done: 2 })
      permits.add(1)
      await bench.until(() => permits.waiting === 1)
      await bench.clock.advance('1s')
      await turns()
      expect(await shown()).toEqual({ done: 3 })
      permits.add(1)
      await bench.until(async () => (await bench.states())['completed'] === 1)
      expect(await shown()).toEqual({ done: 3 })
    })

    it('of many jobs is written in one call', async () => {
      const bench = await open()
      const permits = createPermits()
      let calls = 0
      const store = interpose(bench.store, (verb, call, [, options]) => {
        if (verb === 'extend' && (options as { progress?: unknown }).progress) calls++
        return call()
      })
      const ids = (
        await bench.jobs.enqueueMany(
          work,
          Array.from({ length: 20 }, (_, n) => n),
        )
      ).map(({ id }) => id)
      await bench.started({
        store,
        handlers: [
          handle(work, async ({ payload, progress }) => {
            progress(payload)
            await permits.take()
          }),
        ],
        queues: { default: 20 },
      })
      await bench.until(() => permits.waiting === 20)
      await bench.clock.advance('1s')
      await turns()
      expect(calls).toBe(1)
      expect(await Promise.all(ids.map(async (id) => (await bench.jobs.get(id))!.progress))).toEqual(ids.map((_, n) => n))
      permits.add(20)
    })

    it('that a store which is away could not take is written when it is back', async () => {
      const bench = await open()
      const permits = createPermits()
      let away = false
      const store = interpose(bench.store, (_, call) =>
        away ? Promise.reject(new TriphammerError('STORE_UNAVAILABLE', 'the store is away')) : call(),
      )
      const { id } = await bench.jobs.enqueue(work, {})
      await bench.started({
        store,
        handlers: [
          handle(work, async ({ progress }) => {
            await permits.take()
            progress('half')
            await permits.take()
          }),
        ],
      })
      await bench.until(() => permits.waiting === 1)
      away = true
      permits.add(1)
      await bench.clock.advance('10s')
      expect((await bench.jobs.get(id))!.progress).toBeUndefined()
      away = false
      await bench.until(async () => (await bench.jobs.get(id))!.progress === 'half', 10_000)
      permits.add(1)
    })

    it('that could not be written does not come back over what the handler has shown since', async () => {
      const bench = await open()
      const [permits, answers] = [createPermits(), createPermits()]
      const isProgress = (options: unknown): boolean => (options as { progress?: ReadonlyMap<string, string> }).progress !== undefined
      let fails = true
      const store = interpose(bench.store, async (verb, call, [, options]) => {
        if (verb !== 'extend' || !isProgress(options) || !fails) return call()
        await answers.take()
        fails = false
        throw new TriphammerError('STORE_UNAVAILABLE', 'the store is away')
      })
      const { id } = await bench.jobs.enqueue(work, {})
      await bench.started({
        store,
        handlers: [
          handle(work, async ({ progress }) => {
            progress('first')
            await permits.take()
            progress('second')
            await permits.take()
          }),
        ],
      })
      await bench.until(() => answers.waiting === 1) // the first is on its way
      permits.add(1)
      await bench.until(() => permits.waiting === 1)
      answers.add(1)
      await bench.until(async () => (await bench.jobs.get(id))!.progress !== undefined, 10_000)
      expect((await bench.jobs.get(id))!.progress).toBe('second')
      permits.add(1)
    })

    it('that is no JSON is refused to the handler', async () => {
      const bench = await open()
      const codes: unknown[] = []
      await bench.jobs.enqueue(work, {})
      const worker = bench.worker({
        handlers: [
          handle(work, ({ progress }) => {
            for (const value of [Number.NaN, 'a\u0000', 'x'.repeat(1_048_577)]) {
              try {
                progress(value)
              } catch (error) {
                codes.push((error as { code: string }).code)
              }
            }
          }),
        ],
      })
      await bench.settled(worker.runOnce())
      expect(codes).toEqual(['PAYLOAD_NOT_JSON', 'TEXT_INVALID', 'PAYLOAD_TOO_LARGE'])
    })
  },
  { needs: ['results'] },
)
