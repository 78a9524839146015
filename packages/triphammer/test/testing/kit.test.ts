import { describe, expect, it, vi } from 'vitest'
import { createClient, defineTask, type Gate, type Plugin, type Task } from '../../src/index.ts'
import { createTestKit } from '../../src/testing.ts'
import { createWorker, handle } from '../../src/worker.ts'

const work: Task<unknown, unknown> = defineTask('work')

describe('the clock of a kit', () => {
  it('starts where it is told, stands still, and is that of store, client and handlers', async () => {
    const t = createTestKit({ handlers: [handle(work, ({ job }) => job.runAt)], start: '2030-06-01T12:00:00Z' })
    expect(new Date(t.clock.now())).toEqual(new Date('2030-06-01T12:00:00Z'))
    await t.clock.advance('1h 30m')
    await t.jobs.enqueue(work)
    expect(t.assertEnqueued(work).createdAt).toEqual(new Date('2030-06-01T13:30:00Z'))
    t.clock.setWallClock(Date.UTC(2031, 0, 1))
    expect((await t.perform(work)).result).toBe('2031-01-01T00:00:00.000Z')
    expect(new Date(createTestKit().clock.now())).toEqual(new Date('2026-01-01T00:00:00Z'))
  })

  it('runs nothing by itself', async () => {
    const t = createTestKit({ handlers: [handle(work, () => {})] })
    await t.jobs.enqueue(work)
    await t.clock.advance('1d')
    expect(t.enqueued(work)).toHaveLength(1)
  })
})

describe('the worker of a kit', () => {
  it('runs what falls due while the clock is moved', async () => {
    const at: string[] = []
    const t = createTestKit({ handlers: [handle(work, () => void at.push(new Date(t.clock.now()).toISOString().slice(11, 16)))] })
    await t.jobs.enqueueMany([work.with(), work.with(undefined, { delay: '20m' }), work.with(undefined, { delay: '2h' })])
    await t.worker.start()
    await t.worker.idle()
    expect(at).toEqual(['00:00'])
    await t.clock.advance('1h')
    await t.worker.idle()
    expect(at).toEqual(['00:00', '00:20'])
    await t.close()
  })

  it('is one as in production: several at once, gates, services, queues of its tasks or as told', async () => {
    const taken: string[] = []
    let served = false
    const gate: Gate = { name: 'counts', take: (queue, want) => ({ granted: taken.push(queue) && want }), refund: () => {} }
    const plugin: Plugin = {
      name: 'all',
      setup(context) {
        context.gate(gate)
        context.service({
          name: 'service',
          run: (signal) => {
            served = true
            return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
          },
        })
      },
    }
    let running = 0
    let most = 0
    const run = async (): Promise<void> => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
    }
    const t = createTestKit({ handlers: [handle(work, run)], plugins: [plugin], queues: { mine: 2 } })
    await t.jobs.enqueueMany(work, [1, 2, 3], { queue: 'mine' })
    await t.jobs.enqueue(work, 4)
    expect(await t.worker.runOnce()).toEqual({ started: 3 })
    expect([most, served, new Set(taken)]).toEqual([2, true, new Set(['mine'])])
    expect(t.assertEnqueued(work).payload).toBe(4)
    await t.drain()
    t.assertNotEnqueued()
  })

  it('needs handlers', () => {
    expect(() => createTestKit().worker).toThrow(expect.objectContaining({ code: 'NO_HANDLER' }))
  })

  it('takes the options of a worker, for drain and perform too', async () => {
    const t = createTestKit({
      handlers: [
        handle(work, ({ payload }) => {
          if (payload !== 'hang') throw new Error('no')
          return new Promise(() => {})
        }),
      ],
      retry: { kind: 'fixed', baseMs: 60_000 },
      maxAttempts: 2,
      timeout: '5s',
      payloadLimit: 20,
    })
    expect(await t.perform(work, 1)).toMatchObject({ outcome: 'retry', delayMs: 60_000 })
    const running = t.perform(work, 'hang', { attempt: 2 })
    await t.clock.advance('5s')
    expect((await running).outcome).toBe('timed_out')
    await t.jobs.enqueue(work, 1)
    expect(await t.drain({ scheduled: '60s' })).toMatchObject({ retried: 1, dead: 1 })
    await expect(t.jobs.enqueue(work, 'x'.repeat(20))).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  })

  it('writes its log where it is told, and nowhere unless', async () => {
    const lines: string[] = []
    const write = (_: object, message: string): void => void lines.push(message)
    const logger = { debug: write, info: write, warn: write, error: write }
    const fail = handle(work, () => {
      throw new Error('no')
    })
    const t = createTestKit({ handlers: [fail], logger })
    await t.perform(work)
    expect(lines).toEqual(['an attempt failed; there will be another'])

    const warn = vi.spyOn(console, 'warn')
    try {
      expect(await createTestKit({ handlers: [fail] }).perform(work)).toMatchObject({ outcome: 'retry' })
      expect(warn).not.toHaveBeenCalled()
    } finally {
      warn.mockRestore()
    }
  })
})

describe('a kit', () => {
  it('makes the same ids and the same jitter each time, and others for another seed', async () => {
    const record = async (seed?: number): Promise<unknown> => {
      const t = createTestKit({
        handlers: [
          handle(work, async ({ payload, enqueue }) => {
            if (payload === 'parent') await enqueue(work, 'child')
            if (payload === 'child') throw new Error('no')
          }),
        ],
        ...(seed === undefined ? {} : { seed }),
      })
      await t.jobs.enqueueMany(work, ['parent', 'other'])
      await t.drain({ scheduled: '1m' })
      const { delayMs } = await t.perform(work, 'child')
      await t.jobs.enqueue(work, 'by hand')
      const [run] = await t.jobs.claim('default')
      return [delayMs, run?.lease, t.enqueued(undefined, { state: 'any' })]
    }
    const first = await record()
    expect(await record()).toEqual(first)
    expect(await record(0)).toEqual(first)
    expect(await record(1)).not.toEqual(first)
    expect(await record(1)).toEqual(await record(1))
  })

  it('works under fake timers that leave setImmediate alone', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'setInterval'] })
    try {
      const t = createTestKit({ handlers: [handle(work, () => {})] })
      await t.jobs.enqueue(work, 1, { delay: '1h' })
      expect(await t.drain({ scheduled: true })).toMatchObject({ completed: 1 })
      expect((await t.perform(work)).outcome).toBe('completed')
    } finally {
      vi.useRealTimers()
    }
  })

  it('serves more clients and workers on its store and clock', async () => {
    const t = createTestKit()
    const seen: unknown[] = []
    const client = createClient({ store: t.store, clock: t.clock })
    const worker = createWorker({ store: t.store, clock: t.clock, handlers: [handle(work, ({ payload }) => void seen.push(payload))] })
    await client.enqueue(work, 'mine', { delay: '1h' })
    await t.clock.advance('1h')
    expect(await worker.runOnce()).toEqual({ started: 1 })
    expect(seen).toEqual(['mine'])
    t.assertNotEnqueued()
  })

  it('is closed, also while a handler hangs, and at the end of a block', async () => {
    let signal: AbortSignal | undefined
    const handlers = [
      handle(work, (context) => {
        signal = context.signal
        return new Promise(() => {})
      }),
    ]
    let left: ReturnType<typeof createTestKit>
    {
      await using t = createTestKit({ handlers })
      left = t
      await t.worker.start()
      await t.jobs.enqueue(work)
      await t.clock.advance('1s')
      expect(t.worker.stats().running).toBe(1)
    }
    expect(signal?.reason).toMatchObject({ code: 'SHUTDOWN' })
    await expect(left.jobs.count()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(() => left.enqueued()).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
    await left.close() // again
    await createTestKit().close()
  })

  it.each<[string, object, string]>([
    ['an option that it does not know', { handler: [] }, 'UNKNOWN_OPTION'],
    ['handlers that are none', { handlers: [work] }, 'INVALID_OPTION'],
    ['handlers that are no list', { handlers: handle(work, () => {}) }, 'INVALID_OPTION'],
    ['two handlers for a task', { handlers: [handle(work, () => {}), handle(work, () => {})] }, 'DUPLICATE_HANDLER'],
    ['plugins that are none', { plugins: [{}] }, 'INVALID_OPTION'],
    ['plugins that are no list', { plugins: {} }, 'INVALID_OPTION'],
    ['a start that is no moment', { start: 'tomorrow' }, 'INVALID_OPTION'],
    ['a seed that is no number', { seed: 'x' }, 'INVALID_OPTION'],
    ['a timeout that is none', { handlers: [handle(work, () => {})], timeout: 'long' }, 'INVALID_DURATION'],
    ['a store of one’s own', { store: {} }, 'UNKNOWN_OPTION'],
  ])('refuses %s', (_, options, code) => {
    expect(() => createTestKit(options as never)).toThrow(expect.objectContaining({ code }))
  })
})
