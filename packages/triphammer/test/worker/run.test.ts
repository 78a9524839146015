import { afterEach, beforeEach, expect, it } from 'vitest'
import { defineTask } from '../../src/core/task.ts'
import { memory } from '../../src/memory.ts'
import { createWorker, handle, type Worker } from '../../src/worker.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
// An ear of the test's own, as an application may have: without one the signal would end the process.
const heard: string[] = []
const hear = (signal: string): void => void heard.push(signal)
beforeEach(() => {
  for (const signal of SIGNALS) process.on(signal, hear)
})
afterEach(() => {
  for (const signal of SIGNALS) process.off(signal, hear)
})

function workerOn(): Worker {
  return createWorker({ store: memory(), handlers: [handle(defineTask('work'), () => {})], logger: false })
}

it.each(SIGNALS)('run() hears a %s that comes while it is still starting', async (signal) => {
  const before = process.listenerCount(signal)
  const running = workerOn().run()
  process.emit(signal, signal)
  await running
  expect(heard.at(-1)).toBe(signal)
  expect(process.listenerCount(signal)).toBe(before)
})

it('run() of a worker that cannot start leaves the signals as they were, and the worker that runs alone', async () => {
  const worker = workerOn()
  await worker.start()
  const before = process.listenerCount('SIGTERM')
  await expect(worker.run()).rejects.toMatchObject({ code: 'WORKER_STATE' })
  expect(process.listenerCount('SIGTERM')).toBe(before)
  await worker.stop()
})

it('run({ signals: false }) leaves the signals alone', async () => {
  const worker = workerOn()
  const before = process.listenerCount('SIGTERM')
  const running = worker.run({ signals: false })
  expect(process.listenerCount('SIGTERM')).toBe(before)
  await worker.stop()
  await running
})
