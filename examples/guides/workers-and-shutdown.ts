import { createClient, defineTask } from 'triphammer'
import { memory } from 'triphammer/memory'
import { createWorker, handle } from 'triphammer/worker'

const render = defineTask<{ readonly film: string; readonly takesMs: number }>('render', { queue: 'films' })

// Whatever takes long is given the signal: fetch, child_process and the timers of Node take it as it is.
function work(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}

const store = memory()
const jobs = createClient({ store })
const worker = createWorker({
  store,
  handlers: [handle(render, ({ payload, signal }) => work(payload.takesMs, signal))],
  queues: { films: { concurrency: 2, prefetch: 10 } }, // two at work, up to eight more claimed and ready
  grace: '500ms',
})

const films = [
  { film: 'short', takesMs: 100 },
  { film: 'long', takesMs: 3_600_000 },
  { film: 'next', takesMs: 3_600_000 },
]
await jobs.enqueueMany(render, films)
const bothStarted = new Promise<void>((resolve) => {
  worker.on('job.started', () => {
    if (worker.stats().running === 2) resolve()
  })
})
await worker.start()
await bothStarted
console.log(worker.stats())

// What `run()` does at SIGTERM or SIGINT.
await worker.stop()

const { jobs: all } = await jobs.list({}, { order: 'oldest' })
for (const { payload, state, attempt } of all) console.log(payload, state, attempt)
await jobs.close()
