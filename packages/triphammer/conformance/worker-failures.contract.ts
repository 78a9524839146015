import { expect, it } from 'vitest'
import { z } from 'zod'
import { fixed } from '../src/core/retry.ts'
import { defineTask } from '../src/core/task.ts'
import type { JobRecord } from '../src/store/admin.ts'
import type { NewJob } from '../src/store/types.ts'
import { type Handler, handle } from '../src/worker/handler.ts'
import { type Bench, forEachBench, work } from './worker.ts'

async function runStored(bench: Bench, over: Partial<NewJob>, handler: Handler): Promise<JobRecord> {
  const id = await bench.add({ task: handler.task.name, maxAttempts: 1, ...over })
  await bench.settled(bench.worker({ handlers: [handler] }).runOnce())
  return (await bench.find(id))!
}

forEachBench('what handlers throw', (open) => {
  it.each<{ readonly what: string; readonly thrown: unknown; readonly error: object }>([
    { what: 'undefined', thrown: undefined, error: { name: 'Error' } },
    { what: 'null', thrown: null, error: { message: 'null' } },
    { what: 'text', thrown: 'plain text', error: { message: 'plain text' } },
    { what: 'a number', thrown: 42, error: { message: '42' } },
    { what: 'a symbol', thrown: Symbol('s'), error: { message: 'Symbol(s)' } },
    { what: 'an object', thrown: { status: 503 }, error: { message: '{"status":503}' } },
    { what: 'an object like an error', thrown: { message: 'boom', code: 'E_X' }, error: { message: 'boom', code: 'E_X' } },
    { what: 'text that not every store can hold', thrown: new Error('a\u0000b\ud800'), error: { message: 'a\ufffdb\ufffd' } },
    { what: 'an object that cannot be shown', thrown: { toJSON: () => undefined }, error: { name: 'Error' } },
    { what: 'an error whose message cannot be shown', thrown: { message: Object.create(null) }, error: { name: 'Error' } },
    {
      what: 'an error that throws when it is looked at',
      thrown: {
        get message(): string {
          throw new Error('do not look')
        },
      },
      error: { name: 'Error' },
    },
  ])('$what: the attempt has failed', async ({ thrown, error }) => {
    const bench = await open()
    const throwIt = (): never => {
      throw thrown
    }
    const record = await runStored(bench, {}, handle(work, throwIt))
    expect(record).toMatchObject({ state: 'dead', attempt: 1, error })
    const rejected = await runStored(
      bench,
      {},
      handle(work, () => Promise.reject(thrown)),
    )
    expect(rejected).toMatchObject({ state: 'dead', attempt: 1, error })
  })

  it.each<{ readonly what: string; readonly run: () => unknown }>([
    { what: 'nothing', run: () => {} },
    { what: 'a plain value', run: () => 7 },
    { what: 'a promise', run: () => Promise.resolve(7) },
  ])('a handler may return $what', async ({ run }) => {
    const bench = await open()
    expect(await runStored(bench, {}, handle(work, run))).toMatchObject({ state: 'completed' })
  })
})

forEachBench('payloads that handlers cannot be given', (open) => {
  const sized = defineTask('sized', { input: z.object({ size: z.number() }), retry: fixed('1m') })

  it('one that no longer fits the schema: the handler is not called, and the policy decides', async () => {
    const bench = await open()
    let called = 0
    const handler = handle(sized, () => void called++)
    const record = await runStored(bench, { payload: '{"size":"large"}', maxAttempts: 2 }, handler)
    expect(record).toMatchObject({ state: 'pending', attempt: 1, error: { code: 'PAYLOAD_INVALID' } })
    expect(record.runAt - bench.clock.now()).toBe(60_000)
    expect(await runStored(bench, { payload: '{"size":"large"}' }, handler)).toMatchObject({ state: 'dead' })
    expect(called).toBe(0)
  })

  it('the schema’s own form is what the handler gets, asynchronous schemas included', async () => {
    const bench = await open()
    const upper = defineTask('upper', { input: z.object({ name: z.string().transform(async (text) => text.toUpperCase()) }) })
    const seen: unknown[] = []
    await runStored(
      bench,
      { payload: '{"name":"ann"}' },
      handle(upper, ({ payload }) => void seen.push(payload)),
    )
    expect(seen).toEqual([{ name: 'ANN' }])
  })

  it('one that is not JSON: dead, and its neighbours run', async () => {
    const bench = await open()
    const seen: unknown[] = []
    const bad = await bench.add({ task: 'work', payload: '{"n":', maxAttempts: 25 }).catch(() => undefined)
    const good = await bench.add({ task: 'work', payload: '{"n":1}' })
    await bench.settled(bench.worker({ handlers: [handle(work, ({ payload }) => void seen.push(payload))] }).runOnce())
    expect(seen).toEqual([{ n: 1 }])
    expect(await bench.find(good)).toMatchObject({ state: 'completed' })
    // A store with a type for JSON does not even let it in.
    if (bad !== undefined) expect(await bench.find(bad)).toMatchObject({ state: 'dead', attempt: 1, error: { code: 'PAYLOAD_UNREADABLE' } })
  })
})
