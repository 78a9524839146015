import type { Client, Job, Logger } from 'triphammer'
import { createWorker, type Worker } from 'triphammer/worker'
import { createBell } from './bell.ts'
import { createHandlers } from './handlers.ts'
import type { DemoRun } from './runs.ts'
import { createLatencyPlugin, createSampler, type LatencyPlugin } from './sampler.ts'
import { indexEntry } from './tasks.ts'
import type { View } from './view.ts'

// A job of a killed copy is taken over within 5 s: its lease runs out after 4, and leases are looked over each quarter of that.
const LEASE = '4s'
/** How soon the jobs of a killed copy come back. */
export const BACK_WITHIN = '5 s'

const SHOW_EVERY_MS = 200
/** Counting takes at most a tenth of the time, however many jobs there are to count. */
const COUNTING_SHARE = 10

/** What {@link workOn} works with. */
export interface WorkOptions {
  readonly jobs: Client
  readonly run: DemoRun
  /** Where the report goes, absolute. */
  readonly output: string
  readonly logger: Logger
  readonly view: View
}

/** How a copy ended its work. */
export interface Worked {
  /** The report job; absent if someone deleted it. */
  readonly report: Job | undefined
  /** What stopped the copy, if a signal did. */
  readonly signal: NodeJS.Signals | undefined
}

/** Works on a run until its report job has ended, in this copy or in another, or until a signal. */
export async function workOn({ jobs, run, output, logger, view }: WorkOptions): Promise<Worked> {
  const latencies = createLatencyPlugin()
  const worker = createRunWorker({ jobs, run, output, logger, latencies })
  const sampler = createSampler(jobs, run, worker, latencies)
  const bell = createBell()
  const signals = hearSignals(bell.ring)
  onFirstFile(worker, bell.ring) // it is shown at once

  // The worker has its own ear for the signals: it finishes what it is at, gives the rest back and ends.
  let ended = false
  const onEnd = (): void => {
    ended = true
    bell.ring()
  }
  const working = worker.run()
  void working.then(onEnd, onEnd)
  try {
    for (;;) {
      const from = performance.now()
      const report = await jobs.get(run.reportId)
      view.show(await sampler.sample({ stopping: signals.first() !== undefined }))
      if (ended || !report || report.endedAt) break
      await bell.within(Math.max(SHOW_EVERY_MS, COUNTING_SHARE * (performance.now() - from)))
    }
  } finally {
    await worker.stop()
    view.end()
    signals.end()
  }
  await working
  return { report: await jobs.get(run.reportId), signal: signals.first() }
}

interface RunWorkerOptions extends Omit<WorkOptions, 'view'> {
  readonly latencies: LatencyPlugin
}

function createRunWorker({ jobs, run, output, logger, latencies }: RunWorkerOptions): Worker {
  return createWorker({
    store: jobs.store,
    handlers: createHandlers({ jobs, output }),
    // What a copy holds without working on it, another copy cannot take: a short supply shares the work better.
    queues: { [run.queue]: { concurrency: 8, prefetch: 32 } },
    lease: LEASE,
    poll: '200ms',
    grace: '10s',
    plugins: [latencies],
    logger,
  })
}

function onFirstFile(worker: Worker, then: () => void): void {
  const off = worker.on('job.completed', ({ job }) => {
    if (job.task !== indexEntry.name) return
    off()
    then()
  })
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

function hearSignals(then: () => void): { first(): NodeJS.Signals | undefined; end(): void } {
  let first: NodeJS.Signals | undefined
  const hear = (signal: NodeJS.Signals): void => {
    first ??= signal
    then()
  }
  for (const signal of SIGNALS) process.on(signal, hear)
  return {
    first: () => first,
    end: () => {
      for (const signal of SIGNALS) process.off(signal, hear)
    },
  }
}
