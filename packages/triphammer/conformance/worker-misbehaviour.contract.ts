import { expect, it } from 'vitest'
import { fixed } from '../src/core/retry.ts'
import { defineTask, type EnqueueOptions } from '../src/core/task.ts'
import type { JobRecord } from '../src/store/admin.ts'
import type { ClaimRequest } from '../src/store/types.ts'
import { type HandlerContext, handle } from '../src/worker/handler.ts'
import type { Worker } from '../src/worker/worker.ts'
import { type Bench, createPermits, eavesdrop, forEachBench, interpose, turns, work } from './worker.ts'

const shy = (): never => {
  throw new Error('do not look')
}
const TRAPS: ProxyHandler<object> = {
  get: shy,
  has: shy,
  ownKeys: shy,
  getPrototypeOf: shy,
  getOwnPropertyDescriptor: shy,
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const thenable = (then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void): object => ({ then })

// Runs one job to its end, and another after it: whatever the first does, the second completes.
async function runBeforeAnother(
  bench: Bench,
  run: (context: HandlerContext<unknown>) => unknown,
  options: EnqueueOptions,
): Promise<JobRecord> {
  const { id } = await bench.jobs.enqueue(work, 'odd', options)
  const next = await bench.jobs.enqueue(work, 'plain')
  const worker = bench.worker({
    handlers: [handle(work, (context) => (context.payload === 'odd' ? run(context) : 'fine'))],
    queues: { default: 1 },
  })
  await bench.settled(worker.runOnce())
  expect(await bench.find(next.id)).toMatchObject({ state: 'completed', attempt: 1 })
  return (await bench.find(id))!
}

forEachBench('what no handler should throw', (open) => {
  it.each<{ readonly what: string; readonly thrown: () => unknown; readonly error: object }>([
    { what: 'a frozen object', thrown: () => Object.freeze({ status: 503 }), error: { message: '{"status":503}' } },
    { what: 'a frozen error', thrown: () => Object.freeze(new RangeError('cold')), error: { name: 'RangeError', message: 'cold' } },
    { what: 'a Proxy that throws at every look', thrown: () => new Proxy({}, TRAPS), error: { name: 'Error' } },
    { what: 'a Proxy around a function', thrown: () => new Proxy(() => {}, TRAPS), error: { name: 'Error' } },
    { what: 'a Proxy that has been revoked', thrown: revoked, error: { name: 'Error' } },
    { what: 'an object without a prototype', thrown: () => Object.create(null) as object, error: { name: 'Error', message: '{}' } },
    { what: 'something like a promise', thrown: () => thenable((resolve) => resolve('late')), error: { name: 'Error' } },
    { what: 'a promise', thrown: () => Promise.resolve('late'), error: { name: 'Error' } },
    {
      what: 'an error that is its own cause, as large as one can be',
      thrown: () => {
        const error = new Error('x'.repeat(100_000))
        error.cause = error
        return error
      },
      error: { message: expect.stringMatching(/^x{8192}…$/) },
    },
    {
      what: 'an error whose every property throws',
      thrown: () => Object.defineProperties(new Error('x'), { name: { get: shy }, code: { get: shy }, stack: { get: shy } }),
      error: { name: 'Error' },
    },
  ])('$what: the attempt has failed, its policy holds, and the next job runs', async ({ thrown, error }) => {
    const bench = await open()
    const retry = fixed('1m', { errors: { ENOENT: 'dead' } })
    for (const run of [() => Promise.reject(thrown()), () => throwing(thrown())]) {
      const record = await runBeforeAnother(bench, run, { retry })
      expect(record).toMatchObject({ state: 'pending', attempt: 1, error })
      expect(record.runAt - bench.clock.now()).toBe(60_000)
      await bench.jobs.cancel({ all: true })
    }
  })
})

function throwing(thrown: unknown): never {
  throw thrown
}

forEachBench('what no handler should return', (open) => {
  it.each<{ readonly what: string; readonly run: () => unknown; readonly expected: object }>([
    {
      what: 'a Proxy that throws at every look',
      run: () => new Proxy({}, TRAPS),
      expected: { state: 'dead', error: { message: 'do not look' } },
    },
    {
      what: 'a Proxy that throws when its keys are asked for',
      run: () => new Proxy({}, { has: shy, ownKeys: shy }),
      expected: { state: 'completed' },
    },
    { what: 'something like a promise that resolves', run: () => thenable((resolve) => resolve('yes')), expected: { state: 'completed' } },
    {
      what: 'something like a promise that rejects',
      run: () => thenable((_, reject) => reject(new RangeError('no'))),
      expected: { state: 'dead', error: { name: 'RangeError' } },
    },
    { what: 'something whose `then` throws', run: () => thenable(shy), expected: { state: 'dead', error: { message: 'do not look' } } },
    {
      what: 'a promise that resolves twice, and then rejects',
      run: () =>
        new Promise((resolve, reject) => {
          resolve('first')
          resolve('second')
          reject(new Error('third'))
        }),
      expected: { state: 'completed' },
    },
    {
      what: 'something like a promise that resolves, rejects and throws',
      run: () =>
        thenable((resolve, reject) => {
          resolve('first')
          reject(new Error('second'))
          throw new Error('third')
        }),
      expected: { state: 'completed' },
    },
    { what: 'nothing, ever', run: () => thenable(() => {}), expected: { state: 'timed_out', error: { code: 'TIMED_OUT' } } },
  ])('$what: the run comes to one end, and the next job runs', async ({ run, expected }) => {
    const bench = await open()
    expect(await runBeforeAnother(bench, run, { maxAttempts: 1, timeout: '2s' })).toMatchObject({ attempt: 1, ...expected })
  })
})

const child = defineTask('child', { queue: 'children' })

forEachBench('a handler that goes on after its run has ended', (open) => {
  it.each<{
    readonly how: string
    readonly end: (bench: Bench, worker: Worker, go: () => void) => Promise<unknown>
    readonly left: object
  }>([
    {
      how: 'has timed out',
      end: (bench) => bench.clock.advance('1m'),
      left: { state: 'pending', attempt: 1, error: { code: 'TIMED_OUT' } },
    },
    {
      how: 'went back at a shutdown',
      end: (bench, worker) => bench.settled(worker.stop({ grace: 0 })),
      left: { state: 'pending', attempt: 0 },
    },
    {
      how: 'completed when its handler returned',
      end: async (bench, _, go) => {
        go()
        await bench.until(async () => (await bench.states())['completed'] === 1)
      },
      left: { state: 'completed', attempt: 1 },
    },
  ])('[I1] that $how: it shows, enqueues and commits nothing, and is told so', async ({ end, left }) => {
    const bench = await open()
    const returns = createPermits()
    const calls: string[] = []
    let context: HandlerContext<unknown> | undefined
    const store = interpose(bench.store, (verb, call, [, options]) => {
      const writes = verb === 'enqueue' || verb === 'transaction' || (verb === 'extend' && (options as { progress?: unknown }).progress)
      if (writes) calls.push(verb)
      return call()
    })
    const { id } = await bench.jobs.enqueue(work, {}, { timeout: '30s', retry: fixed('1h') })
    const handler = handle(work, (given) => {
      context = given
      return returns.take()
    })
    const worker = await bench.started({ store, handlers: [handler] })
    await bench.until(() => returns.waiting === 1)
    await end(bench, worker, () => returns.add(1))
    await turns()
    const before = await bench.find(id)
    expect(before).toMatchObject(left)

    let worked = 0
    const { progress, enqueue, commit } = context!
    expect(progress('late')).toBeUndefined()
    await expect(enqueue(child, {})).rejects.toMatchObject({ code: 'LEASE_LOST', message: expect.stringContaining(id) })
    await expect(commit(() => void worked++)).rejects.toMatchObject({ code: 'LEASE_LOST' })
    await bench.store.transaction(async (tx) => {
      await expect(commit(tx.db as object)).rejects.toMatchObject({ code: 'LEASE_LOST' })
    })
    await bench.clock.advance('5s')
    await turns()
    expect(worked).toBe(0)
    expect(calls).toEqual([])
    expect(await bench.find(id)).toEqual(before)
    expect(await bench.jobs.count()).toBe(1)
    returns.add(1)
  })

  it('whose end is still on its way to the store: what it shows then does not stay with the job', async () => {
    const bench = await open()
    const answers = createPermits()
    let context: HandlerContext<unknown> | undefined
    const store = interpose(bench.store, async (verb, call, [request]) => {
      if (verb === 'finish' || (verb === 'claim' && (request as ClaimRequest).finish?.length)) await answers.take()
      return call()
    })
    const { id } = await bench.jobs.enqueue(work, {}, { timeout: '1s', maxAttempts: 1 })
    const handler = handle(work, (given) => {
      context = given
      given.progress('in time')
      return new Promise(() => {})
    })
    await bench.started({ store, handlers: [handler] })
    await bench.until(() => answers.waiting === 1)
    context!.progress('late')
    await bench.clock.advance('5s')
    answers.add(10)
    await bench.until(async () => (await bench.find(id))?.state === 'timed_out')
    expect((await bench.jobs.get(id))?.progress).toBe(bench.store.facets.results ? 'in time' : undefined)
  })

  it('[I1] whose job another has by now: what it shows is not written to that run', async () => {
    const bench = await open()
    const permits = createPermits()
    const { plugin, types } = eavesdrop()
    const { id } = await bench.jobs.enqueue(work, {})
    const handler = handle(work, async ({ progress }) => {
      await permits.take()
      progress('of the first run')
      await permits.take()
    })
    await bench.started({ handlers: [handler], queues: { default: 1 }, plugins: [plugin], pulse: '5s' })
    await bench.until(() => permits.waiting === 1)
    await bench.jobs.retry(id)
    const [second] = await bench.claim({ limit: 1 })
    permits.add(1)
    await bench.clock.advance('6s')
    await turns()
    const record = await bench.find(id)
    expect(record).toMatchObject({ state: 'running', attempt: 2 })
    expect(record).not.toHaveProperty('progress')
    permits.add(1)
    await bench.until(() => types().includes('job.lost'))
    expect(await bench.store.finish([{ lease: second!.lease, kind: 'completed' }])).toMatchObject([{ state: 'applied' }])
  })
})
