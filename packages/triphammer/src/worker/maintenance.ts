import { expiredOutcome, type Settler } from '../extend/settle.ts'
import type { Run, SessionId } from '../store/types.ts'
import type { WorkerConfig } from './options.ts'

/**
 * What every worker does for all: no leader is needed, since each pass is bounded and idempotent and the store hands an
 * expired run to one caller only.
 */
export interface Maintenance {
  /** Ends runs whose leases have expired, by policy. */
  reclaim(): Promise<void>
  /** Retention and what else the store needs. */
  clean(): Promise<void>
}

const RECLAIM_SLICE = 100
const CLEAN_SLICE = 1_000

/** Makes {@link Maintenance}. */
export function createMaintenance(options: {
  readonly config: WorkerConfig
  readonly settler: Settler
  readonly session: SessionId
}): Maintenance {
  const { config, settler, session } = options
  const { store, log, leaseMs, handlers, policy } = config
  const attemptsOf = ({ task, maxAttempts }: Run): number =>
    handlers.has(task) ? Math.min(maxAttempts, policy.maxAttempts ?? maxAttempts) : maxAttempts
  return {
    async reclaim() {
      for (;;) {
        const runs = await store.reclaim({ session, limit: RECLAIM_SLICE, leaseMs })
        if (runs.length === 0) return
        await settler.finish(runs.map((run) => ({ run, outcome: expiredOutcome(run, attemptsOf(run)) })))
        for (const { id, task, attempt } of runs) log.warn({ job: id, task, attempt }, 'the lease of a job had run out; it was reclaimed')
        if (runs.length < RECLAIM_SLICE) return
      }
    },
    async clean() {
      while ((await store.maintain({ session, limit: CLEAN_SLICE })).more);
    },
  }
}
