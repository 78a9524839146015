import { expect, it } from 'vitest'
import type { RetryFunction } from '../src/core/retry.ts'
import { type AnyTask, defineTask } from '../src/core/task.ts'
import type { FollowUp } from '../src/extend/plugin.ts'
import { handle } from '../src/worker/handler.ts'
import { broken, hanging, plugin, rejecting, throwing } from './misbehaving.ts'
import { forEachBench, turns, work } from './worker.ts'

forEachBench('follow-ups that misbehave', (open) => {
  it.each<{ readonly what: string; readonly followUp: () => unknown }>([
    { what: 'throw', followUp: throwing },
    { what: 'are asynchronous and reject', followUp: rejecting },
    { what: 'are asynchronous', followUp: async () => [work.with({})] },
    { what: 'return nothing', followUp: () => undefined },
    { what: 'return what is no job', followUp: () => [{ task: 'work' }] },
    { what: 'return a payload that is no JSON', followUp: () => [work.with(1n)] },
  ])('that $what: the job ends without them, with those of the others, and that is logged', async ({ followUp }) => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const both = plugin((context) => {
      context.followUp(followUp as FollowUp)
      context.followUp(() => [work.with('good', { queue: 'elsewhere' })])
    })
    await bench.settled(bench.worker({ handlers: [handle(work, () => {})], plugins: [both] }).runOnce())
    await turns()
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
    expect((await bench.jobs.list({ queue: 'elsewhere' })).jobs).toMatchObject([{ payload: 'good' }])
    expect(await bench.jobs.count()).toBe(2)
    expect(bench.logged.filter(({ message }) => message.includes('a follow-up failed'))).toHaveLength(1)
  })

  it('whose enqueue middleware never settles: the job ends without them after 5 s, and no other job waits for ever', async () => {
    const bench = await open()
    const ids = (await bench.jobs.enqueueMany(work, ['hangs', 'fine', 'fine'])).map(({ id }) => id)
    const bad = plugin((context) => {
      context.enqueue((jobs, next) => (jobs.some(({ payload }) => payload.includes('hangs')) ? hanging() : next(jobs)))
      context.followUp(({ payload }) => [work.with(JSON.parse(payload), { queue: 'elsewhere' })])
    })
    const worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [bad] })
    await bench.until(async () => (await bench.states())['completed'] === 3, 6_000)
    for (const id of ids) expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
    expect((await bench.jobs.list({ queue: 'elsewhere' })).jobs).toMatchObject([{ payload: 'fine' }, { payload: 'fine' }])
    expect(bench.logged).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ error: expect.objectContaining({ code: 'TIMED_OUT' }) }) }),
    )
    await worker.stop()
  })

  it('[I8] and the worker stops meanwhile: the outcome is written all the same', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const bad = plugin((context) => {
      context.enqueue(hanging)
      context.followUp(() => [work.with({})])
    })
    const worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [bad] })
    await bench.until(() => worker.stats().started === 1 && worker.stats().running === 0)
    await bench.settled(worker.stop(), 10_000)
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
  })
})

forEachBench('enqueue middleware that misbehaves, in a handler', (open) => {
  it.each([
    ['throws', throwing, { state: 'dead', error: { message: broken.message } }],
    ['rejects', rejecting, { state: 'dead', error: { message: broken.message } }],
    ['never settles', hanging, { state: 'timed_out', error: { code: 'TIMED_OUT' } }],
  ] as const)('%s: the attempt has failed, and nothing was enqueued', async (_, middleware, expected) => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {}, { maxAttempts: 1, timeout: '1s' })
    const worker = bench.worker({
      handlers: [
        handle(work, async ({ enqueue }) => {
          await enqueue(work, {})
        }),
      ],
      plugins: [plugin((context) => context.enqueue(middleware))],
    })
    await bench.settled(worker.runOnce())
    expect(await bench.find(id)).toMatchObject({ attempt: 1, ...expected })
    expect(await bench.jobs.count()).toBe(1)
  })
})

forEachBench('retry functions that misbehave', (open) => {
  it.each<{ readonly what: string; readonly retry: () => unknown }>([
    { what: 'throws', retry: throwing },
    { what: 'is asynchronous', retry: async () => '1s' },
    { what: 'is asynchronous and rejects', retry: rejecting },
    { what: 'never settles', retry: hanging },
    { what: 'returns nothing', retry: () => undefined },
    { what: 'returns no duration', retry: () => 'soon' },
    { what: 'returns no number', retry: () => Number.NaN },
    { what: 'returns less than nothing', retry: () => -5 },
  ])('one that $what: the default decides, and that is logged', async ({ retry }) => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const ids = { next: () => bench.ids.next(), random: () => 0.5 }
    await bench.settled(bench.worker({ handlers: [handle(work, throwing)], retry: retry as RetryFunction, ids }).runOnce())
    const record = await bench.find(id)
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: { message: broken.message } })
    expect(record!.runAt - bench.clock.now()).toBe(2_000)
    expect(bench.logged).toContainEqual(expect.objectContaining({ level: 'error', message: expect.stringContaining('retry function') }))
  })
})

const checkedBy = (validate: () => unknown): AnyTask =>
  defineTask('checked', { input: { '~standard': { version: 1, vendor: 'own', validate } } as never })

forEachBench('schemas that misbehave', (open) => {
  it.each<{ readonly what: string; readonly validate: () => unknown; readonly expected: object }>([
    { what: 'throws', validate: throwing, expected: { state: 'dead', error: { message: broken.message } } },
    { what: 'rejects', validate: rejecting, expected: { state: 'dead', error: { message: broken.message } } },
    { what: 'never settles', validate: hanging, expected: { state: 'timed_out', error: { code: 'TIMED_OUT' } } },
    { what: 'returns nothing', validate: () => undefined, expected: { state: 'dead', error: { code: 'PAYLOAD_INVALID' } } },
    { what: 'promises nothing', validate: async () => null, expected: { state: 'dead', error: { code: 'PAYLOAD_INVALID' } } },
    { what: 'returns a switch', validate: () => true, expected: { state: 'dead', error: { code: 'PAYLOAD_INVALID' } } },
    {
      what: 'has issues that are no list',
      validate: () => ({ issues: 'bad' }),
      expected: { state: 'dead', error: { code: 'PAYLOAD_INVALID' } },
    },
  ])('one that $what as the job runs: the attempt has failed, and no handler was called', async ({ validate, expected }) => {
    const bench = await open()
    let runs = 0
    const id = await bench.add({ task: 'checked', maxAttempts: 1, timeoutMs: 1_000 })
    const worker = bench.worker({ handlers: [handle(checkedBy(validate), () => runs++)], queues: { default: 1 } })
    await bench.settled(worker.runOnce())
    expect(await bench.find(id)).toMatchObject({ attempt: 1, ...expected })
    expect(runs).toBe(0)
  })

  it.each<readonly [what: string, validate: () => unknown]>([
    ['nothing', () => undefined],
    ['a promise of nothing', async () => undefined],
    ['a switch', () => true],
    ['issues that are no list', () => ({ issues: 'bad' })],
  ])('one that returns %s at enqueue: refused, and nothing is written', async (_, validate) => {
    const bench = await open()
    await expect(bench.jobs.enqueue(checkedBy(validate), 1)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringContaining('the schema of task checked returned'),
    })
    expect(await bench.jobs.count()).toBe(0)
  })
})
