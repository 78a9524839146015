import { type Client, createClient, defineTask, type EnqueueOptions, type Store, type Task } from 'triphammer'
import { sqlite } from 'triphammer/sqlite'
import { createWorker, handle, type Worker, type WorkerOptions } from 'triphammer/worker'

/** A small payload: 45 bytes as JSON. */
export const PAYLOAD = { user: 4711, mail: 'ada@example.org', n: 12 } as const

/** The task of the jobs that do nothing. */
export const work: Task<typeof PAYLOAD, typeof PAYLOAD> = defineTask<typeof PAYLOAD>('work')

/** A client on a SQLite file with the library's defaults; the file is open when this resolves. */
export async function openClient(file: string): Promise<Client> {
  const jobs = createClient({ store: sqlite(file) })
  await jobs.migrate()
  return jobs
}

/** Enqueues in calls of 1,000. */
export async function enqueueInBulk(jobs: Client, count: number, options: EnqueueOptions): Promise<void> {
  for (let done = 0; done < count; done += 1_000) {
    const payloads = Array.from({ length: Math.min(1_000, count - done) }, () => PAYLOAD)
    await jobs.enqueueMany(work, payloads, options)
  }
}

/** The options of jobs that are forgotten when they complete, or kept as by default. */
export function retention(keep: boolean): EnqueueOptions {
  return keep ? {} : { retain: false }
}

/** How a worker drains a queue, unless a case says otherwise. */
export const DRAINING: Pick<WorkerOptions, 'queues'> = { queues: { default: { concurrency: 50, prefetch: 200 } } }

/** A worker whose handler does nothing but call `onRun`. */
export function workerOn(store: Store, onRun: () => void, options: Pick<WorkerOptions, 'queues' | 'poll'>): Worker {
  return createWorker({ store, handlers: [handle(work, onRun)], ...options })
}
