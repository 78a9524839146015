import { hostname } from 'node:os'
import type { Client, Job, Logger } from 'triphammer'
import { createWorker } from 'triphammer/worker'
import { createHandlers } from './handlers.ts'
import type { DemoRun } from './runs.ts'
import { createLatencyPlugin, createSampler } from './sampler.ts'
import { indexEntry } from './tasks.ts'
import type { View } from './view.ts'

/** Others that are at the run when this copy joins it. */
export interface Company {
  /** Process ids of other copies that are alive. */
  readonly copies: readonly number[]
  /** Jobs that someone has claimed and not finished. */
  readonly claimed: number
}

/** Looks who else is at work. */
export async function findCompany(jobs: Client, { queue }: DemoRun): Promise<Company> {
  const workers = (await jobs.workers()).filter(({ queues, host }) => queues.includes(queue) && host === hostname())
  const copies = workers.map(({ pid }) => pid).filter((pid) => pid !== process.pid && isAlive(pid))
  return { copies: [...new Set(copies)], claimed: await jobs.count({ queue, state: 'running' }) }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0) // sends nothing, only asks
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** How a copy ended its work: the report job, if it has ended, and the signal that stopped the copy, if one did. */
export interface Worked {
  readonly report: Job | undefined
  readonly signal: NodeJS.Signals | undefined
}

// A job of a killed copy is taken over within 5 s: its lease runs out after 4, and leases are looked over each quarter of that.
const LEASE = '4s'
/** See {@link LEASE}. */
export const BACK_WITHIN = '5 s'

const SHOW_EVERY_MS = 200
/** Counting takes at most a tenth of the time, however many jobs there are to count. */
const COUNTING_SHARE = 10

/** What {@link workOn} works with. */
export interface WorkOptions {
  readonly jobs: Client
  readonly run: DemoRun
  readonly logger: Logger
  readonly view: View
}

/** Works on a run until its report job has ended, or until a signal. */
export async function workOn({ jobs, run, logger, view }: WorkOptions): Promise<Worked> {
  const latencies = createLatencyPlugin()
  const worker = createWorker({
    store: jobs.store,
    handlers: createHandlers(jobs),
    // What a copy holds without working on it, another copy cannot take: a short supply shares the work better.
    queues: { [run.queue]: { concurrency: 8, prefetch: 32 } },
    lease: LEASE,
    poll: '200ms',
    grace: '10s',
    plugins: [latencies],
    logger,
  })
  const sampler = createSampler(jobs, run, worker, latencies)
  const wake = createBell()
  let signal: NodeJS.Signals | undefined
  const onSignal = (name: NodeJS.Signals): void => {
    signal ??= name
    wake.ring()
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  const offFirst = worker.on('job.completed', ({ job }) => {
    if (job.task !== indexEntry.name) return
    offFirst() // the first finished job is shown at once
    wake.ring()
  })

  // The worker has its own ear for the signals: it finishes what it is at, gives the rest back and ends.
  let ended = false
  const working = worker.run().finally(() => {
    ended = true
    wake.ring()
  })
  try {
    for (;;) {
      const from = performance.now()
      const report = await jobs.get(run.reportId)
      view.show(await sampler.sample({ stopping: signal !== undefined }))
      if (ended || !report || report.endedAt) break
      await wake.within(Math.max(SHOW_EVERY_MS, COUNTING_SHARE * (performance.now() - from)))
    }
    await worker.stop()
    await working
    return { report: await jobs.get(run.reportId), signal }
  } finally {
    view.end()
    for (const name of SIGNALS) process.off(name, onSignal)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** A wait that can be cut short. */
function createBell(): { ring(): void; within(ms: number): Promise<void> } {
  let rung = false
  let wake: (() => void) | undefined
  return {
    ring() {
      rung = true
      wake?.()
    },
    async within(ms) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      rung = false
    },
  }
}
