import { expect, it, onTestFinished, vi } from 'vitest'
import type { Logger } from '../src/core/logger.ts'
import { fixed } from '../src/core/retry.ts'
import type { EventType } from '../src/extend/events.ts'
import type { Gate } from '../src/extend/gate.ts'
import type { RunMiddleware } from '../src/extend/middleware.ts'
import type { Service } from '../src/extend/plugin.ts'
import { handle } from '../src/worker/handler.ts'
import { broken, expectLogged, hanging, plugin, rejecting, throwing } from './misbehaving.ts'
import { eavesdrop, forEachBench, turns, work } from './worker.ts'

forEachBench('run middleware that misbehaves', (open) => {
  it.each<{ readonly what: string; readonly link: RunMiddleware; readonly runs: number; readonly expected: object }>([
    {
      what: 'throws once the handler has returned',
      link: async (call, next) => {
        await next(call)
        return throwing()
      },
      runs: 1,
      expected: { state: 'dead', error: { message: broken.message } },
    },
    {
      what: 'calls next twice at the same time',
      link: (call, next) => Promise.all([next(call), next(call)]),
      runs: 1,
      expected: { state: 'dead', error: { message: 'middleware called next() twice' } },
    },
    { what: 'never goes on', link: hanging, runs: 0, expected: { state: 'timed_out', error: { code: 'TIMED_OUT' } } },
    {
      what: 'never ends',
      link: (call, next) => next(call).then(hanging),
      runs: 1,
      expected: { state: 'timed_out', error: { code: 'TIMED_OUT' } },
    },
    {
      what: 'does not wait for the handler',
      link: async (call, next) => {
        void next(call)
        return 'already'
      },
      runs: 1,
      expected: { state: 'completed' },
    },
  ])('that $what: one end, and the next job runs', async ({ link, runs, expected }) => {
    const bench = await open()
    let ran = 0
    const { id } = await bench.jobs.enqueue(work, 'wrapped', { maxAttempts: 1, timeout: '3s' })
    const next = await bench.jobs.enqueue(work, 'plain')
    const only: RunMiddleware = (call, go) => (call.run.payload === '"wrapped"' ? link(call, go) : go(call))
    const worker = bench.worker({
      handlers: [handle(work, ({ payload }) => void (payload === 'wrapped' && ran++))],
      plugins: [plugin(({ run }) => run(only))],
      queues: { default: 1 },
    })
    await bench.settled(worker.runOnce())
    expect(await bench.find(id)).toMatchObject({ attempt: 1, ...expected })
    expect(await bench.find(next.id)).toMatchObject({ state: 'completed' })
    expect(ran).toBe(runs)
  })

  it('[I6] that never ends, of a job without a time limit: the shutdown hands it back', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [plugin(({ run }) => run(hanging))] })
    await bench.until(() => worker.stats().running === 1)
    await bench.settled(worker.stop({ grace: '1s' }), 2_100)
    expect(await bench.find(id)).toMatchObject({ state: 'pending', attempt: 0 })
  })
})

const JOB_EVENTS = ['job.started', 'job.completed', 'job.retrying', 'job.snoozed', 'job.released', 'job.dead', 'job.timed_out'] as const
const ALL: readonly EventType[] = [...JOB_EVENTS, 'job.cancelled', 'job.lost', 'worker.started', 'worker.stopped']

forEachBench('observers of everything that misbehave', (open) => {
  it.each<{ readonly what: string; readonly observer: () => unknown; readonly counts: boolean }>([
    { what: 'throw', observer: throwing, counts: true },
    { what: 'reject', observer: rejecting, counts: true },
    { what: 'never settle', observer: hanging, counts: false },
  ])('that $what: every job comes to its end, and the worker stops', async ({ observer, counts }) => {
    const bench = await open()
    const { plugin: ears, types } = eavesdrop()
    const bad = plugin(({ on }) => {
      for (const type of ALL) on(type, observer as () => void)
    })
    const ends: Record<string, () => unknown> = {
      completes: () => 'done',
      fails: throwing,
      times: hanging,
    }
    for (const payload of Object.keys(ends)) await bench.jobs.enqueue(work, payload, { maxAttempts: 1, timeout: '1s' })
    await bench.jobs.enqueue(work, 'fails', { retry: fixed('1h') })
    const worker = bench.worker({ handlers: [handle(work, ({ payload }) => ends[payload as string]!())], plugins: [bad, ears] })
    await bench.settled(worker.runOnce())
    await turns()
    expect(await bench.states()).toEqual({ completed: 1, dead: 1, timed_out: 1, pending: 1 })
    const told = types().filter((type) => ALL.includes(type)).length
    expect(told).toBe(10)
    expect(worker.stats().observerFailures).toBe(counts ? told : 0)
    if (counts) expectLogged(bench, 'observer threw')
  })
})

forEachBench('gates that misbehave', (open) => {
  it.each<{ readonly what: string; readonly take: () => unknown; readonly isLogged: boolean }>([
    { what: 'throws', take: throwing, isLogged: true },
    { what: 'is asynchronous and rejects', take: rejecting, isLogged: true },
    { what: 'is asynchronous', take: async () => ({ granted: 1 }), isLogged: false },
    { what: 'grants nothing that is a number', take: () => ({ granted: Number.NaN }), isLogged: false },
    { what: 'grants more than was asked for', take: () => ({ granted: 1_000_000 }), isLogged: false },
    { what: 'grants less than nothing', take: () => ({ granted: -1 }), isLogged: false },
    { what: 'returns nothing', take: () => undefined, isLogged: false },
  ])('that $what lets nothing through, and the worker stops as always', async ({ take, isLogged }) => {
    const bench = await open()
    await bench.jobs.enqueue(work, {})
    let asked = 0
    const gate = { name: 'bad', take: () => ++asked > 0 && take(), refund: () => {} } as unknown as Gate
    const worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [plugin((context) => context.gate(gate))] })
    await bench.clock.advance('10s')
    await turns()
    expect(await bench.states()).toEqual({ pending: 1 })
    expect(asked).toBeGreaterThan(5)
    expect(asked).toBeLessThan(40) // once a poll, and at what wakes it
    if (isLogged) expectLogged(bench, 'a gate threw')
    else expect(bench.logged).toContainEqual(expect.objectContaining({ level: 'error', message: expect.stringContaining('a gate ') }))
    await worker.stop()
  })

  it.each<readonly [what: string, retryInMs: unknown]>([
    ['no number', Number.NaN],
    ['before now', -1_000],
    ['at once, for ever', 0],
    ['text', 'soon'],
    ['never', Number.POSITIVE_INFINITY],
  ])('that says to ask again at a time which is none (%s) makes no worker spin, and is asked again', async (_, retryInMs) => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    let asked = 0
    let isOpen = false
    const take = (_queue: string, want: number): object => {
      asked++
      return { granted: isOpen ? want : 0, retryInMs }
    }
    const gate = { name: 'odd', take, refund: () => {} } as unknown as Gate
    await bench.started({ handlers: [handle(work, () => {})], plugins: [plugin((context) => context.gate(gate))] })
    await bench.clock.advance('1s')
    await turns()
    expect(asked).toBeGreaterThan(0)
    expect(asked).toBeLessThan(250) // at 5 ms each
    isOpen = true
    await bench.until(async () => (await bench.find(id))?.state === 'completed', 2_000)
  })

  it.each([
    ['throw', throwing],
    ['reject', rejecting],
  ] as const)('whose refund and done %s: the jobs run all the same', async (_, tell) => {
    const bench = await open()
    await bench.jobs.enqueueMany(work, [1, 2, 3])
    const gate: Gate = { name: 'bad', take: (_queue, want) => ({ granted: want }), refund: tell as () => void, done: tell as () => void }
    await bench.settled(bench.worker({ handlers: [handle(work, () => {})], plugins: [plugin((context) => context.gate(gate))] }).runOnce())
    await turns()
    expect(await bench.states()).toEqual({ completed: 3 })
    expectLogged(bench, 'a gate threw')
  })
})

forEachBench('services that misbehave', (open) => {
  it.each([
    ['throws at once', throwing],
    ['rejects', rejecting],
    ['returns no promise', (): unknown => 'nothing'],
  ] as const)('one that %s is started again, and jobs run', async (_, run) => {
    const bench = await open()
    let runs = 0
    const service: Service = {
      name: 'bad',
      run(): Promise<void> {
        runs++
        return run() as Promise<void>
      },
    }
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [plugin((context) => context.service(service))] })
    await bench.clock.advance('10s')
    await turns()
    expect(await bench.find(id)).toMatchObject({ state: 'completed' })
    expect(runs).toBe(4) // after 1 s, 2 s and 4 s
    await worker.stop() // no time passes
    expect(bench.logged.filter(({ fields }) => fields['service'] === 'bad')).toHaveLength(4)
  })
})

forEachBench('loggers that misbehave', (open) => {
  it.each([
    ['throws', throwing],
    ['rejects', rejecting],
    ['never settles', hanging],
  ] as const)('one that %s takes no job with it', async (_, line) => {
    const bench = await open()
    const shown = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => shown.mockRestore())
    const write = line as () => void
    const logger: Logger = { debug: write, info: write, warn: write, error: write }
    const ids = (await bench.jobs.enqueueMany(work, ['fails', 'logs'], { maxAttempts: 1 })).map(({ id }) => id)
    const handler = handle(work, ({ payload, log }) => {
      if (payload === 'fails') throw broken
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({}, 'a line')
    })
    const bad = plugin(({ on, followUp }) => {
      on('job.started', throwing)
      followUp(throwing)
    })
    await bench.settled(bench.worker({ handlers: [handler], logger, plugins: [bad] }).runOnce())
    await turns()
    expect(await bench.find(ids[0]!)).toMatchObject({ state: 'dead', error: { message: broken.message } })
    expect(await bench.find(ids[1]!)).toMatchObject({ state: 'completed' })
    if (line === hanging) expect(shown).not.toHaveBeenCalled()
    else expect(shown).toHaveBeenCalledWith('triphammer: the logger threw', { error: broken })
  })
})

forEachBench('plugins whose setup misbehaves', (open) => {
  it('one that throws: no worker, and the error is its own', async () => {
    const bench = await open()
    expect(() => bench.worker({ handlers: [handle(work, () => {})], plugins: [plugin(throwing)] })).toThrow(broken)
  })

  it.each([
    ['resolves', async () => {}],
    ['rejects', rejecting],
    ['never settles', hanging],
  ] as const)('one that is asynchronous and %s: no worker, since its hooks would come too late', async (_, setup) => {
    const bench = await open()
    const made = (): unknown => bench.worker({ handlers: [handle(work, () => {})], plugins: [plugin(setup as () => void)] })
    expect(made).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining('"bad" is asynchronous') }))
    await turns()
  })
})
