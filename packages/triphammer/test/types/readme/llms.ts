import {
  type Client,
  completed,
  createClient,
  defineTask,
  discard,
  exponential,
  isTriphammerError,
  type Job,
  type JobList,
  retryAfter,
  snooze,
} from 'triphammer'
import { memory } from 'triphammer/memory'
import { sqlite } from 'triphammer/sqlite'
import { createWorker, handle, type Worker } from 'triphammer/worker'
import { z } from 'zod'

// Tasks. Every option may be left out. Durations: milliseconds or '500ms' '30s' '5m' '1h 30m' '7d'.
const sendEmail = defineTask('send_email', {
  input: z.object({ to: z.string(), template: z.string() }), // any Standard Schema; the payload's type follows from it
  queue: 'mail', // default 'default'
  priority: 'high', // critical high normal low background, or an integer: lower runs first; default normal
  maxAttempts: 10, // attempts, not retries; default 25
  timeout: '30s', // per attempt; default none
  retry: exponential({ base: '2s', max: '10m', jitter: 0.2, errors: { ENOTFOUND: 'dead' } }), // also fixed, linear, fibonacci, a function
  retain: '1d', // kept after completion; default 7 days; false: forgotten at once
})
const cleanUp = defineTask<{ readonly folder: string }>('clean_up') // without a schema: the type alone
const tick = defineTask<undefined>('tick') // no payload

// The client. A store: sqlite('jobs.db', { driver?, synchronous?, migrate?, walLimitBytes? }) or memory(). Default: ./.triphammer/jobs.db
const store = process.env['CI'] ? memory() : sqlite('jobs.db')
const jobs: Client = createClient({ store }) // also: plugins, logger (or false), payloadLimit

const { id, status } = await jobs.enqueue(sendEmail, { to: 'a@b.c', template: 'hi' }) // status: 'inserted' | 'duplicate'
await jobs.enqueue(cleanUp, { folder: '/tmp' }, { delay: '5m' }) // or runAt, id, and all options of a task but input
await jobs.enqueue(tick)
await jobs.enqueueMany(cleanUp, [{ folder: '/a' }, { folder: '/b' }], { priority: 'low' }) // all or none
await jobs.enqueueMany([tick.with(), cleanUp.with({ folder: '/c' })])
await jobs.transaction(async (tx) => void (await jobs.in(tx).enqueue(tick))) // tx.db is the store's connection
// In a transaction of your own on a synchronous SQLite connection: jobs.in(db).enqueueSync(tick)

// The worker.
const worker: Worker = createWorker({
  store, // the same object as the client's, if they share a process
  handlers: [
    handle(sendEmail, async ({ payload, signal, attempt, job, log, progress, enqueue, commit }) => {
      if (payload.template === 'old') throw discard('no such template') // dead now
      if (job.priority > 10) throw snooze('5m') // again later; the attempt does not count
      if (attempt === 1) throw retryAfter('30s', new Error('busy')) // the attempt failed; when to try again
      progress({ sent: 0.5 })
      log.info({ to: payload.to }, 'sending')
      await fetch('https://mail.example.org', { signal }) // any other throw: the attempt failed, the policy decides
      await enqueue(tick)
      return commit((tx) => tx.db !== undefined) // writes through tx.db and the completion of the job: both or neither
    }),
    handle(cleanUp, () => ({ removed: 3 })), // what it returns is kept as the result, as JSON
    handle(tick, () => undefined),
  ],
  queues: { mail: { concurrency: 20, prefetch: 40, weights: 'default' }, default: 10 }, // default: the tasks' queues, 10 each
  lease: '60s', // extended by the worker itself
  grace: '30s', // how long stop() waits for handlers; also poll, pulse, maxAttempts, retry, timeout, plugins, logger
})
worker.on('job.dead', ({ job, error }) => console.error(job.id, error.message))
const { started } = await worker.runOnce() // until nothing is due; or run() until SIGTERM or SIGINT; or start() and stop({ grace })
console.log(started, worker.stats().running)

// Operating. A target is an id, ids, or a filter: id queue task state priority createdBefore/After runBefore/After endedBefore/After.
const job: Job | undefined = await jobs.get(id) // payload state attempt error result progress runAt endedAt …
const page: JobList = await jobs.list({ state: 'unsuccessful' }, { limit: 100, order: 'newest' }) // page.next is the next page's after
await jobs.count({ queue: 'mail' })
await jobs.countBy('state') // or queue, task, priority
const { changed, refused, missing } = await jobs.retry(id, { delay: '1m' })
await jobs.cancel({ task: sendEmail }, { reason: 'closed' }) // also kill, failed, reschedule, reprioritise
await jobs.delete({ state: 'dead', endedBefore: new Date() })
await jobs.pause('mail', { by: 'ada', reason: 'outage' })
await jobs.resume('mail')
await jobs.queues()
await jobs.workers()

// By hand, without a worker.
for (const run of await jobs.claim('default', { max: 10, lease: '60s' })) {
  await jobs.extend(run, '60s') // false: not yours any more
  await jobs.finish(run, completed()) // 'applied' | 'stale'; or fail(run, error), release(run)
}
await jobs.reclaim() // ends runs whose leases have expired; workers do it by themselves
await jobs.close() // last: it closes the store for everyone

// Errors. One type, TriphammerError, with a literal code; what is expected (duplicate, stale, false, undefined) is returned, not thrown.
function explain(error: unknown): string {
  return isTriphammerError(error, 'PAYLOAD_INVALID') ? error.message : 'something else'
}
console.log(status, job?.state, page.jobs.length, changed, refused, missing, explain(new Error('no')))
