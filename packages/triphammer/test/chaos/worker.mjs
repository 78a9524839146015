// A worker in a process of its own, on the built package. It prints a line for each thing that happens to it; SIGUSR2 lets
// handlers go on that wait. The task `work` completes its job together with its effect, `plain` by returning.
import { defineTask } from '../../dist/index.js'
import { sqlite } from '../../dist/sqlite.js'
import { createWorker, handle } from '../../dist/worker.js'

const [file, mode, options] = process.argv.slice(2)
const store = sqlite(file)
const say = (what) => console.log(JSON.stringify(what))

process.on('unhandledRejection', (error) => {
  say({ what: 'unhandled', code: String(error) })
  process.exitCode = 1
})
process.on('warning', (warning) => say({ what: 'warning', code: String(warning) }))

let letGo
const gone = new Promise((resolve) => {
  letGo = resolve
})
process.on('SIGUSR2', () => letGo())

const commitEffect = ({ commit, job }) =>
  commit(async (tx) => {
    tx.db.prepare('insert into effects (job, pid) values (?, ?)').run(job.id, process.pid)
    await new Promise((resolve) => setTimeout(resolve, 2))
  })
const begin = async ({ job, signal }) => {
  say({ what: 'started', id: job.id })
  if (mode === 'waits') {
    signal.addEventListener('abort', () => say({ what: 'aborted', id: job.id, code: signal.reason.code }))
    await gone
  } else {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
const run = async (context) => {
  await begin(context)
  try {
    await commitEffect(context)
  } catch (error) {
    say({ what: 'refused', id: context.job.id, code: error.code })
    throw error
  }
}

// With --expose-gc: connections that were closed are gone at once with libsql too, which keeps them until they are collected.
if (globalThis.gc) setInterval(globalThis.gc, 500).unref()

const worker = createWorker({
  store,
  handlers: [handle(defineTask('work'), run), handle(defineTask('plain'), begin)],
  queues: { default: { concurrency: mode === 'waits' ? 1 : 4, prefetch: 8 } },
  lease: '1s',
  poll: '100ms',
  pulse: '100ms',
  logger: false,
  ...JSON.parse(options),
})
worker.on('job.completed', ({ job }) => say({ what: 'completed', id: job.id }))
worker.on('job.lost', ({ job }) => say({ what: 'lost', id: job.id }))
worker.on('store.unavailable', ({ error }) => say({ what: 'unavailable', code: error.code, message: error.message }))
worker.on('store.available', () => say({ what: 'available' }))
worker.on('worker.started', () => say({ what: 'up' }))
await worker.run()
await store.close()
