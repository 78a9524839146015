import { expect, it } from 'vitest'
import { discard } from '../src/core/outcome.ts'
import { fixed } from '../src/core/retry.ts'
import { defineTask } from '../src/core/task.ts'
import type { Plugin, PluginContext } from '../src/extend/plugin.ts'
import type { Outcome } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { createPermits, eavesdrop, forEachBench, interpose, work } from './worker.ts'

const plugin = (setup: (context: PluginContext) => void): Plugin => ({ name: 'test', setup })

forEachBench('follow-ups', (open) => {
  const note = defineTask('note', { queue: 'notes' })
  const notes = plugin(({ followUp }) =>
    followUp(({ id, task, state, attempt, payload, error }) => [
      note.with({ id, task, state, attempt, payload, error: error?.message ?? null }),
    ]),
  )

  it('[I4] are written with the end of their job, for every kind of end, once', async () => {
    const bench = await open()
    const ids = (await bench.jobs.enqueueMany(work, ['completed', 'dead', 'cancelled', 'retried'], { retry: fixed('1h') })).map(
      ({ id }) => id,
    )
    const permits = createPermits()
    const worker = await bench.started({
      handlers: [
        handle(work, async ({ payload }) => {
          if (payload === 'dead') throw discard('dead it is')
          if (payload === 'retried') throw new Error('again')
          if (payload === 'cancelled') await permits.take()
        }),
      ],
      plugins: [notes],
    })
    await bench.until(() => permits.waiting === 1)
    await bench.jobs.cancel(ids[2]!)
    permits.add(1)
    await bench.until(async () => (await bench.states())['cancelled'] === 1)
    await bench.settled(worker.idle())
    const { jobs } = await bench.jobs.list({ queue: 'notes' })
    const told = jobs.map(({ payload }) => payload as { id: string; state: string; error: string | null })
    expect(new Set(told.map(({ id, state, error }) => [id, state, error].join(' ')))).toEqual(
      new Set([`${ids[0]} completed `, `${ids[1]} dead dead it is`, `${ids[2]} cancelled the job was cancelled`]),
    )
    expect(told).toHaveLength(3)
  })

  it('[I4] are written for a job that timed out, and for one that was cancelled before it started', async () => {
    const bench = await open()
    const { plugin: ears, heard } = eavesdrop()
    const [slow, held] = await bench.jobs.enqueueMany(work, ['slow', 'held'], { timeout: '1s', maxAttempts: 1 })
    const starts: unknown[] = []
    const worker = await bench.started({
      handlers: [
        handle(work, ({ payload }) => {
          starts.push(payload)
          return new Promise(() => {})
        }),
      ],
      queues: { default: { concurrency: 1, prefetch: 2 } },
      plugins: [notes, ears],
    })
    await bench.until(() => worker.stats().held === 1)
    await bench.jobs.cancel(held!.id)
    await bench.until(async () => (await bench.states())['timed_out'] === 1)
    await bench.settled(worker.idle())
    const { jobs } = await bench.jobs.list({ queue: 'notes' })
    expect(new Set(jobs.map(({ payload }) => payload as { id: string; state: string }).map(({ id, state }) => `${id} ${state}`))).toEqual(
      new Set([`${slow!.id} timed_out`, `${held!.id} cancelled`]),
    )
    expect(jobs).toHaveLength(2)
    expect(starts).toEqual(['slow'])
    expect(heard.filter(({ type }) => type === 'job.cancelled')).toHaveLength(1)
  })

  it('[I1] [I4] of a run that was taken away are not written', async () => {
    const bench = await open()
    const permits = createPermits()
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = await bench.started({ handlers: [handle(work, () => permits.take())], plugins: [notes] })
    await bench.until(() => permits.waiting === 1)
    await bench.jobs.kill(id)
    permits.add(1)
    await bench.settled(worker.idle())
    expect(await bench.jobs.count({ queue: 'notes' })).toBe(0)
  })

  it('[I4] are written once although the reply of their finish is lost', async () => {
    const bench = await open()
    let lost = 0
    const store = interpose(bench.store, async (verb, call, [request]) => {
      const answer = await call()
      const finishes = verb === 'finish' || (request as { finish?: readonly Outcome[] } | undefined)?.finish?.length
      if (finishes && lost++ === 0) throw Object.assign(new Error('connection reset'), { code: 'ECONNRESET' })
      return answer
    })
    await bench.jobs.enqueue(work, {})
    const worker = bench.worker({ store, handlers: [handle(work, () => {})], plugins: [notes] })
    await bench.settled(worker.runOnce())
    expect(lost).toBeGreaterThan(1)
    expect(await bench.states()).toEqual({ completed: 1, pending: 1 })
  })

  it('that throw are logged; the job ends, with the follow-ups of the others', async () => {
    const bench = await open()
    const bad = plugin(({ followUp }) =>
      followUp(() => {
        throw new Error('bad follow-up')
      }),
    )
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = bench.worker({ handlers: [handle(work, () => {})], plugins: [bad, notes] })
    await bench.settled(worker.runOnce())
    expect(await bench.find(id)).toMatchObject({ state: 'completed' })
    expect(await bench.jobs.count({ queue: 'notes' })).toBe(1)
    expect(bench.logged).toMatchObject([{ level: 'error', message: expect.stringContaining('follow-up failed'), fields: { job: id } }])
  })

  it('pass through the enqueue middleware of the worker', async () => {
    const bench = await open()
    const sealing = plugin(({ enqueue }) => enqueue((jobs, next) => next(jobs.map((job) => ({ ...job, payload: '"sealed"' })))))
    await bench.jobs.enqueue(work, {})
    const worker = bench.worker({ handlers: [handle(work, () => {})], plugins: [notes, sealing] })
    await bench.settled(worker.runOnce())
    expect((await bench.jobs.list({ queue: 'notes' })).jobs).toMatchObject([{ payload: 'sealed' }])
  })
})

forEachBench('services', (open) => {
  it('run from the start to the stop of their worker', async () => {
    const bench = await open()
    const steps: string[] = []
    const service = plugin((context) =>
      context.service({
        name: 'clockwork',
        async run(signal) {
          steps.push('starts')
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          steps.push('ends')
        },
      }),
    )
    const worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [service] })
    await bench.clock.advance('1m')
    expect(steps).toEqual(['starts'])
    await worker.stop()
    expect(steps).toEqual(['starts', 'ends'])
    expect(bench.logged).toEqual([])
  })

  it('are started again when they fail or end by themselves, less and less often', async () => {
    const bench = await open()
    const starts: number[] = []
    const from = bench.clock.monotonic()
    const service = plugin((context) =>
      context.service({
        name: 'brittle',
        async run() {
          starts.push(bench.clock.monotonic() - from)
          if (starts.length % 2 === 0) throw new Error('failed')
        },
      }),
    )
    await bench.started({ handlers: [handle(work, () => {})], plugins: [service] })
    await bench.clock.advance('4m')
    expect(starts).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000, 183_000])
    expect(bench.logged.map(({ level }) => level).slice(0, 4)).toEqual(['warn', 'error', 'warn', 'error'])
  })

  it('one that does not end when it is told cannot hold up the stop for longer than 5 s', async () => {
    const bench = await open()
    const service = plugin((context) => context.service({ name: 'stubborn', run: () => new Promise(() => {}) }))
    const worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [service] })
    let stopped = false
    const stopping = worker.stop().then(() => {
      stopped = true
    })
    await bench.clock.advance(4_900)
    expect(stopped).toBe(false)
    await bench.settled(stopping, 200)
    expect(stopped).toBe(true)
  })
})
