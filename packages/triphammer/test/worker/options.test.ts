import { describe, expect, it } from 'vitest'
import { DEFAULT_WEIGHTS } from '../../src/core/priority.ts'
import { defineTask } from '../../src/core/task.ts'
import { memory } from '../../src/memory.ts'
import { handle } from '../../src/worker/handler.ts'
import { parseWorkerOptions, type WorkerOptions } from '../../src/worker/options.ts'

const plain = defineTask('plain')
const mail = defineTask('mail', { queue: 'mail' })
const run = (): void => {}
const store = memory()

const parse = (options: object) => parseWorkerOptions({ store, handlers: [handle(plain, run)], ...options } as WorkerOptions)

describe('what createWorker refuses', () => {
  it.each<readonly [string, object, string, string]>([
    ['an option that nobody reads', { concurency: 5 }, 'UNKNOWN_OPTION', 'concurency'],
    ['no store', { store: undefined }, 'INVALID_OPTION', 'store'],
    ['no handlers', { handlers: [] }, 'NO_HANDLER', 'handlers'],
    ['handlers that are no list', { handlers: handle(plain, run) }, 'NO_HANDLER', 'handlers'],
    ['a handler that is none', { handlers: [{ task: plain }] }, 'INVALID_OPTION', 'handle(task, function)'],
    ['a handler of nothing', { handlers: [null] }, 'INVALID_OPTION', 'handle(task, function)'],
    ['two handlers of one task', { handlers: [handle(plain, run), handle(plain, run)] }, 'DUPLICATE_HANDLER', 'plain'],
    ['two tasks of one name', { handlers: [handle(plain, run), handle(defineTask('plain'), run)] }, 'DUPLICATE_TASK', 'plain'],
    ['queues that no handler is for', { handlers: [handle(mail, run)], queues: { other: 1 } }, 'NO_HANDLER', 'other'],
    ['no queue', { queues: {} }, 'INVALID_OPTION', 'queues is empty'],
    ['a queue without a name', { queues: { '': 1 } }, 'INVALID_NAME', 'queue'],
    ['a queue with too long a name', { queues: { ['x'.repeat(129)]: 1 } }, 'INVALID_NAME', '129'],
    ['a queue whose name not every store can hold', { queues: { 'a\u0000': 1 } }, 'TEXT_INVALID', 'U+0000'],
    ['an option of a queue that nobody reads', { queues: { default: { limit: 5 } } }, 'UNKNOWN_OPTION', 'limit'],
    ['a queue that is null', { queues: { default: null } }, 'INVALID_OPTION', 'default'],
    ['a concurrency of zero', { queues: { default: 0 } }, 'INVALID_OPTION', 'concurrency'],
    ['a concurrency below zero', { queues: { default: -1 } }, 'INVALID_OPTION', 'concurrency'],
    ['half a handler at once', { queues: { default: 1.5 } }, 'INVALID_OPTION', 'concurrency'],
    ['a concurrency that no machine has', { queues: { default: 10_001 } }, 'INVALID_OPTION', 'concurrency'],
    ['a concurrency of text', { queues: { default: { concurrency: '5' } } }, 'INVALID_OPTION', 'concurrency'],
    ['a prefetch of zero', { queues: { default: { prefetch: 0 } } }, 'INVALID_OPTION', 'prefetch'],
    ['a prefetch below the concurrency', { queues: { default: { concurrency: 5, prefetch: 4 } } }, 'INVALID_OPTION', 'prefetch'],
    ['a weight of no level', { queues: { default: { weights: { urgent: 5 } } } }, 'INVALID_OPTION', 'urgent'],
    ['a weight below zero', { queues: { default: { weights: { high: -1 } } } }, 'INVALID_OPTION', 'high'],
    ['a lease of zero', { lease: 0 }, 'INVALID_DURATION', 'lease'],
    ['a lease below zero', { lease: '-5s' }, 'INVALID_DURATION', 'lease'],
    ['a lease that is no time', { lease: 'soon' }, 'INVALID_DURATION', 'lease'],
    ['a poll that would never rest', { poll: 9 }, 'INVALID_DURATION', 'poll'],
    ['a pulse that would never rest', { pulse: 49 }, 'INVALID_DURATION', 'pulse'],
    ['a grace below zero', { grace: -1 }, 'INVALID_DURATION', 'grace'],
    ['a time limit of zero', { timeout: 0 }, 'INVALID_DURATION', 'timeout'],
    ['no attempts', { maxAttempts: 0 }, 'INVALID_OPTION', 'maxAttempts'],
    ['a retry that is no policy', { retry: 'often' }, 'INVALID_OPTION', 'retry'],
    ['a payload limit of zero', { payloadLimit: 0 }, 'INVALID_OPTION', 'payloadLimit'],
  ])('%s', (_, options, code, named) => {
    expect(() => parse(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(named) }))
  })

  it('anything but an object', () => {
    expect(() => parseWorkerOptions(undefined as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})

describe('what createWorker assumes', () => {
  it('serves the queues of its tasks, ten at once and a hundred in hand', () => {
    const { queues, leaseMs, pollMs, pulseMs, graceMs } = parse({ handlers: [handle(plain, run), handle(mail, run)] })
    expect(queues).toEqual([
      { name: 'default', concurrency: 10, prefetch: 100 },
      { name: 'mail', concurrency: 10, prefetch: 100 },
    ])
    expect({ leaseMs, pollMs, pulseMs, graceMs }).toEqual({ leaseMs: 60_000, pollMs: 1_000, pulseMs: 1_000, graceMs: 30_000 })
  })

  it.each([
    [3, 30],
    [50, 500],
    [100, 500],
    [600, 600],
  ])('a concurrency of %d: a prefetch of %d', (concurrency, prefetch) => {
    expect(parse({ queues: { default: concurrency } }).queues).toEqual([{ name: 'default', concurrency, prefetch }])
  })

  it('takes what it is told', () => {
    const weights = { high: 3 }
    const config = parse({
      queues: { default: { concurrency: 2, prefetch: 7, weights }, other: { weights: 'default' } },
      lease: '5s',
      poll: 10,
      pulse: 50,
      grace: 0,
      maxAttempts: 3,
      timeout: '1m',
    })
    expect(config.queues[0]).toMatchObject({ concurrency: 2, prefetch: 7, weights: { high: 3, critical: 1, low: 1 } })
    expect(config.queues[1]!.weights).toEqual(DEFAULT_WEIGHTS)
    expect(config).toMatchObject({ leaseMs: 5_000, pollMs: 10, pulseMs: 50, graceMs: 0, policy: { maxAttempts: 3, timeoutMs: 60_000 } })
  })

  it('a task that names no queue may be handled in any', () => {
    expect(parse({ queues: { elsewhere: 1 } }).queues).toMatchObject([{ name: 'elsewhere' }])
  })
})
