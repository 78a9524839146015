import { expiredOutcome, type Settler } from '../extend/settle.ts'
import type { Run, SessionId } from '../store/types.ts'
import type { ClockWatch } from './clock-watch.ts'
import type { WorkerConfig } from './options.ts'
import { isAway, isFatal, type Outage } from './outage.ts'

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

/** What {@link Maintenance} works with. */
export interface MaintenanceOptions {
  readonly config: WorkerConfig
  readonly settler: Settler
  readonly session: SessionId
  readonly outage: Outage
  readonly watch: ClockWatch
  /** Ends a pass after the step that it is at, however much is left: others will do it. */
  readonly signal: AbortSignal
}

const RECLAIM_SLICE = 100
const CLEAN_SLICE = 1_000
/** So often in a row a pass is put off: four passes are about a lease. */
const PUT_OFF_MAX = 4

/** Makes {@link Maintenance}. */
export function createMaintenance({ config, settler, session, outage, watch, signal }: MaintenanceOptions): Maintenance {
  const { store, log, clock, leaseMs, handlers, policy } = config
  const attemptsOf = ({ task, maxAttempts }: Run): number =>
    handlers.has(task) ? Math.min(maxAttempts, policy.maxAttempts ?? maxAttempts) : maxAttempts
  let putOff = 0
  // When the store has been away, or the clock has jumped, the leases of live workers may have run out too. Before theirs are
  // taken they are given half a lease to extend them, but a store that fails now and then keeps no crashed job for ever.
  const isTooSoon = (): boolean => {
    const quietMs = Math.min(outage.quietMs(), clock.monotonic() - watch.jumpedAt())
    putOff = quietMs < leaseMs / 2 && putOff < PUT_OFF_MAX ? putOff + 1 : 0
    return putOff > 0
  }
  // An outcome that the store refuses must not keep the other jobs: each is then written by itself.
  const end = async (runs: readonly Run[]): Promise<void> => {
    try {
      await settler.finish(runs.map((run) => ({ run, outcome: expiredOutcome(run, attemptsOf(run)) })))
      for (const { id, task, attempt } of runs) log.warn({ job: id, task, attempt }, 'the lease of a job had run out; it was reclaimed')
    } catch (error) {
      if (isAway(error) || isFatal(error)) throw error
      if (runs.length > 1) for (const run of runs) await end([run])
      else log.error({ job: runs[0]!.id, error }, 'the store refuses how a reclaimed job ends; its lease will run out again')
    }
  }
  return {
    async reclaim() {
      if (isTooSoon()) return
      for (let more = true; more && !signal.aborted; ) {
        const runs = await store.reclaim({ session, limit: RECLAIM_SLICE, leaseMs })
        if (runs.length > 0) await end(runs)
        more = runs.length === RECLAIM_SLICE
      }
    },
    async clean() {
      for (let more = true; more && !signal.aborted; ) ({ more } = await store.maintain({ session, limit: CLEAN_SLICE }))
    },
  }
}
