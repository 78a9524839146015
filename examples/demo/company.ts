import { hostname } from 'node:os'
import type { Client } from 'triphammer'
import type { DemoRun } from './runs.ts'

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
