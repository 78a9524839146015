// A worker in a process of its own, on the built package, with a handler that misbehaves. It prints a line for each thing
// that happens. The mode says how; a file that appears lets it go on.
import { existsSync } from 'node:fs'
import { defineTask } from '../../dist/index.js'
import { sqlite } from '../../dist/sqlite.js'
import { createWorker, handle } from '../../dist/worker.js'

const [file, mode, goOn] = process.argv.slice(2)
const store = sqlite(file)
const say = (line) => console.log(JSON.stringify(line))
const broken = new Error('nobody waits for this')

// Nothing else happens in this process until the file is there.
const block = () => {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  while (!existsSync(goOn)) Atomics.wait(cell, 0, 0, 10)
}
const appears = async () => {
  while (!existsSync(goOn)) await new Promise((resolve) => setTimeout(resolve, 10))
}
const start = {
  blocks: block,
  async rejects() {
    void Promise.reject(broken)
    await appears()
  },
  async throws() {
    setTimeout(() => {
      throw broken
    }, 1)
    await appears()
  },
  works() {},
}
if (mode.endsWith(', heard')) {
  for (const event of ['unhandledRejection', 'uncaughtException'])
    process.on(event, (error) => say({ what: 'heard', message: error.message }))
}

const worker = createWorker({
  store,
  handlers: [
    handle(defineTask('work'), async ({ job, payload }) => {
      say({ what: 'started', id: job.id })
      if (payload === 'odd') await start[mode.split(',')[0]]()
      return process.pid
    }),
  ],
  queues: { default: { concurrency: 1, prefetch: 4 } },
  lease: '1s',
  poll: '100ms',
  pulse: '100ms',
  logger: false,
})
worker.on('job.lost', ({ job }) => say({ what: 'lost', id: job.id }))
worker.on('job.completed', ({ job }) => say({ what: 'completed', id: job.id }))
await worker.run()
await store.close()
