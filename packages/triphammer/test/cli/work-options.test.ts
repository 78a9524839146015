import { describe, expect, it } from 'vitest'
import { refused } from '../../conformance/client.ts'
import type { Settings } from '../../src/cli/settings.ts'
import { processesOf, queuesOf, workerOptions } from '../../src/cli/work-options.ts'
import { defineTask } from '../../src/core/task.ts'
import { memory } from '../../src/memory.ts'
import { sqlite } from '../../src/sqlite.ts'
import { handle } from '../../src/worker.ts'

const settings: Settings = { folder: '/', tasks: [], processes: 4, plugins: [], worker: {} }
const handlers = [
  handle(defineTask('a', { queue: 'mail' }), () => {}),
  handle(defineTask('b'), () => {}),
  handle(defineTask('c'), () => {}),
]

describe('the queues of work', () => {
  it('are those of the tasks, unless the settings or an option name some', () => {
    expect(queuesOf({}, undefined, handlers)).toEqual({ mail: { concurrency: 10 }, default: { concurrency: 10 } })
    expect(queuesOf({}, { x: 3, y: { prefetch: 50 } }, handlers)).toEqual({ x: { concurrency: 3 }, y: { concurrency: 10, prefetch: 50 } })
    expect(queuesOf({ queue: ['z=7', 'a=b=2', 'y'] }, { x: 3 }, handlers)).toEqual({
      z: { concurrency: 7 },
      'a=b': { concurrency: 2 },
      y: { concurrency: 10 },
    })
  })

  it('keep what the settings say about them, and --concurrency is for those without a number', () => {
    const configured = { x: { concurrency: 3, prefetch: 9 }, y: { prefetch: 50 } }
    expect(queuesOf({ concurrency: '5' }, configured, handlers)).toEqual({
      x: { concurrency: 3, prefetch: 9 },
      y: { concurrency: 5, prefetch: 50 },
    })
    expect(queuesOf({ queue: ['x=4', 'y', 'z'], concurrency: '5' }, configured, handlers)).toEqual({
      x: { concurrency: 4, prefetch: 9 },
      y: { concurrency: 5, prefetch: 50 },
      z: { concurrency: 5 },
    })
  })

  it('have whole numbers', async () => {
    await refused(() => queuesOf({ concurrency: 'many' }, {}, handlers), 'INVALID_OPTION', /--concurrency: "many"/)
    await refused(() => queuesOf({ concurrency: '0' }, {}, handlers), 'INVALID_OPTION', /--concurrency: 0/)
    await refused(() => queuesOf({ queue: ['mail=x'] }, {}, handlers), 'INVALID_OPTION', /--queue: the concurrency of mail: "x"/)
  })
})

describe('the worker of work', () => {
  it('is told what the settings say, with the options over it', () => {
    const given: Settings = { ...settings, payloadLimit: 9, worker: { lease: '9m', grace: '1s', retry: () => 5, maxAttempts: 7 } }
    const flags = { grace: '5s', timeout: '1h 30m', poll: '2s', pulse: '300ms', maxAttempts: '3' }
    expect(workerOptions(flags, given)).toEqual({
      ...{ lease: '9m', retry: given.worker.retry, plugins: [], payloadLimit: 9 },
      ...{ grace: 5_000, timeout: 5_400_000, poll: 2_000, pulse: 300, maxAttempts: 3 },
    })
  })

  it('refuses what is no duration or number, naming the option', async () => {
    for (const name of ['lease', 'poll', 'pulse', 'grace', 'timeout']) {
      await refused(() => workerOptions({ [name]: 'soon' }, settings), 'INVALID_DURATION', new RegExp(`^--${name}: "soon"`))
    }
    await refused(() => workerOptions({ maxAttempts: '1.5' }, settings), 'INVALID_OPTION', /--max-attempts: "1.5"/)
  })
})

describe('the processes of work', () => {
  it('are those of the settings, unless an option says otherwise', () => {
    expect(processesOf({}, settings)).toBe(4)
    expect(processesOf({ processes: '2' }, settings)).toBe(2)
    expect(processesOf({ once: true }, settings)).toBe(1)
  })

  it('are refused where they make no sense', async () => {
    await refused(() => processesOf({ processes: '2', once: true }, settings), 'INVALID_OPTION', /--once works in one process/)
    await refused(() => processesOf({ processes: '0' }, settings), 'INVALID_OPTION', /--processes: 0/)
    await refused(() => processesOf({}, { ...settings, store: memory() }), 'INVALID_OPTION', /in memory lives within one process/)
    expect(processesOf({ processes: '1' }, { ...settings, store: memory() })).toBe(1)
    expect(processesOf({}, { ...settings, store: sqlite('a.db') })).toBe(4)
  })
})
