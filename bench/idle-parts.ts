import { openClient, workerOn } from './library.ts'
import type { Cues } from './part.ts'
import { nowMs, wait } from './time.ts'

/** What a process that does nothing has used meanwhile. */
export interface Idle {
  /** Of one core. */
  readonly cpuPercent: number
  readonly rssBytes: number
}

/** What a process that does nothing is told. */
export interface IdleAssignment {
  readonly file: string
  readonly forMs: number
}

/** A worker without work. */
export async function idlePart({ file, forMs }: IdleAssignment, { begin }: Cues): Promise<Idle> {
  const jobs = await openClient(file)
  const worker = workerOn(jobs.store, () => {}, {})
  await worker.start()
  await worker.idle()
  await wait(1_000) // until what starting left to do is done
  await begin()
  const idle = await idleFor(forMs)
  await worker.stop()
  await jobs.close()
  return idle
}

/** A Node.js process without anything, for comparison. */
export async function nothingPart({ forMs }: IdleAssignment, { begin }: Cues): Promise<Idle> {
  await begin()
  return idleFor(forMs)
}

async function idleFor(ms: number): Promise<Idle> {
  const [startedAt, cpu] = [nowMs(), process.cpuUsage()]
  await wait(ms)
  const { user, system } = process.cpuUsage(cpu)
  return { cpuPercent: (user + system) / 10 / (nowMs() - startedAt), rssBytes: process.memoryUsage.rss() }
}
