// A worker in a process of its own, on the built package. Prints a line when a job starts, and at last what it has left
// behind; it never calls process.exit, so that it ends only when nothing keeps it alive.
import { createClient, defineTask } from '../../../dist/index.js'
import { memory } from '../../../dist/memory.js'
import { sqlite } from '../../../dist/sqlite.js'
import { createWorker, handle } from '../../../dist/worker.js'

const [mode, file] = process.argv.slice(2)
const store = file === ':memory:' ? memory() : sqlite(file)
const jobs = createClient({ store, logger: false })
const task = defineTask('work')
const say = (what) => console.log(JSON.stringify(what))

const run = async ({ payload, signal }) => {
  say({ started: payload })
  if (payload === 'short') await new Promise((resolve) => setTimeout(resolve, 300))
  if (payload === 'deaf') await new Promise(() => {})
  if (payload === 'obedient') {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw signal.reason
  }
}
const worker = createWorker({
  store,
  handlers: [handle(task, run)],
  queues: { default: { concurrency: 1, prefetch: 10 } },
  grace: '1h',
  logger: false,
})

await jobs.migrate()
switch (mode) {
  case 'once':
    await jobs.enqueueMany(
      task,
      Array.from({ length: 20 }, (_, n) => n),
    )
    say(await worker.runOnce())
    break
  case 'cycle':
    await worker.start()
    await worker.stop()
    await worker.start()
    await worker.stop()
    break
  case 'idle':
    worker.on('worker.started', () => setImmediate(() => say({ started: 'nothing' })))
    await worker.run()
    break
  default:
    await jobs.enqueueMany(task, [mode, 'held', 'held'])
    await worker.run()
}
const { jobs: all } = await jobs.list({}, { order: 'oldest', limit: 30 })
say({
  left: all.map(({ state, attempt, startedAt }) => ({ state, attempt, hasStart: startedAt !== undefined })),
  workers: (await jobs.workers()).length,
  listeners: process.listenerCount('SIGTERM') + process.listenerCount('SIGINT'),
})
