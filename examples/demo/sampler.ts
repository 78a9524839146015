import type { Client, Plugin } from 'triphammer'
import type { Worker } from 'triphammer/worker'
import { createLatencies } from './latencies.ts'
import type { Sample } from './progress-line.ts'
import { type DemoRun, unfinished } from './runs.ts'
import { indexEntry, scanFolder } from './tasks.ts'

/** Counts a run's jobs in the store, so that every copy shows the work of all. */
export interface Sampler {
  sample(now: { readonly stopping: boolean }): Promise<Sample>
}

const RATE_WINDOW_MS = 5_000

/** Makes a {@link Sampler}. Times are milliseconds since the process was started. */
export function createSampler(jobs: Client, run: DemoRun, worker: Worker, latencies: LatencyPlugin): Sampler {
  const history: { readonly at: number; readonly done: number }[] = []
  const rate = (at: number, done: number): number => {
    history.push({ at, done })
    while (history.length > 2 && at - history[0]!.at > RATE_WINDOW_MS) history.shift()
    const from = history[0]!
    return at > from.at ? Math.round(((done - from.done) / (at - from.at)) * 1_000) : 0
  }
  return {
    async sample({ stopping }) {
      const { pending = 0, running = 0, ...ended } = await jobs.countBy('state', { queue: run.queue, task: indexEntry })
      const scans = await jobs.count({ ...unfinished(run.queue), task: scanFolder })
      const done = Object.values(ended).reduce((sum, count) => sum + count, 0)
      const { held, running: atWork, started } = worker.stats()
      const isIdle = started > 0 && held + atWork === 0
      const elapsedMs = performance.now()
      const latency = latencies.percentiles()
      return {
        elapsedMs,
        done,
        total: done + pending + running,
        scanning: scans > 0,
        perSecond: rate(elapsedMs, done),
        ...(latency === undefined ? {} : { latency }),
        elsewhere: isIdle ? running : 0,
        retrying: isIdle && running === 0 ? pending : 0,
        stopping,
      }
    },
  }
}

/** A plugin that collects the latencies of index jobs. */
export interface LatencyPlugin extends Plugin, Pick<ReturnType<typeof createLatencies>, 'percentiles'> {}

/** Remembers when each job was enqueued while it is at work, and takes the time when its completion has been written. */
export function createLatencyPlugin(): LatencyPlugin {
  const latencies = createLatencies()
  const createdAt = new Map<string, number>()
  return {
    name: 'latency',
    setup({ run, on }) {
      run((call, next) => {
        if (call.run.task === indexEntry.name) createdAt.set(call.run.id, call.run.createdAt)
        return next(call)
      })
      on('job.completed', ({ job, at }) => {
        const created = createdAt.get(job.id)
        if (created !== undefined) latencies.add(at - created)
        createdAt.delete(job.id)
      })
      on('job.dead', ({ job }) => createdAt.delete(job.id))
    },
    percentiles: () => latencies.percentiles(),
  }
}
