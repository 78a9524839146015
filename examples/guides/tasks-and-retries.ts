import { createClient, defineTask, discard, exponential, fixed, snooze } from 'triphammer'
import { memory } from 'triphammer/memory'
import { createWorker, handle } from 'triphammer/worker'

const importFeed = defineTask<{ readonly feed: string }>('import_feed', {
  maxAttempts: 5,
  timeout: '200ms', // per attempt
  retry: exponential({ base: '10ms', max: '1s', jitter: 0.2, errors: { RateLimited: fixed('50ms'), ENOTFOUND: 'dead' } }),
})

class RateLimited extends Error {}

let isReady = false
const handler = handle(importFeed, async ({ payload: { feed }, attempt, signal }) => {
  switch (feed) {
    case 'flaky':
      if (attempt < 3) throw new Error('it broke') // another attempt, by the policy
      return { items: 12 }
    case 'busy':
      if (attempt === 1) throw new RateLimited('too many requests') // another attempt, by the policy for this class
      return { items: 3 }
    case 'unknown':
      throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }) // dead at once, by the policy for this code
    case 'closed':
      throw discard('the feed has been closed') // dead at once, whatever the policy says
    case 'early':
      if (!isReady) {
        isReady = true
        throw snooze('20ms') // again later; this attempt does not count
      }
      return { items: 1 }
    default:
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error)) // never answers, so each attempt times out
      })
  }
})

const store = memory()
const jobs = createClient({ store })
const feeds = ['flaky', 'busy', 'unknown', 'closed', 'early']
await jobs.enqueueMany(
  importFeed,
  feeds.map((feed) => ({ feed })),
)
await jobs.enqueue(importFeed, { feed: 'slow' }, { maxAttempts: 2 }) // what the job says goes before the task

const worker = createWorker({ store, handlers: [handler], logger: false })
const allEnded = new Promise<void>((resolve) => {
  let left = feeds.length + 1
  const one = (): void => {
    if (--left === 0) resolve()
  }
  worker.on('job.completed', one)
  worker.on('job.dead', one)
  worker.on('job.timed_out', one)
})
await worker.start()
await allEnded
await worker.stop()

const ended = await jobs.list({}, { order: 'oldest' })
for (const { payload, state, attempt, error } of ended.jobs) console.log(payload, state, attempt, error?.message)
await jobs.close()
