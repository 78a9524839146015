import type { JobFailure } from '../../core/failure.ts'
import type { FinalState } from '../../core/state.ts'
import type { SqliteValue } from '../../sql/sqlite-connection.ts'
import type { Outcome } from '../../store/types.ts'
import type { Write } from './write.ts'

/** The start of a job in milliseconds after its claim. Nothing plus the claim is nothing: what never started has no start. */
export const STARTED = 'started_at + ?'
/** Its end in milliseconds after its claim; without one, the end is now. */
export const ENDED = 'coalesce(started_at + ?, ?)'

/** The condition that a run is the caller's, by its token. */
export const FENCED = 'token = ?'
/** And free to end as the caller says: once a cancel has been requested, only as cancelled. */
export const FREE: string = `${FENCED} and cancel is null`

const MOVE = `insert or replace into triphammer_ended
  (id, state, queue, task, priority, run_at, created_at, attempt, max_attempts, started_at, ended_at,
   timeout_ms, retain_ms, retry, error, progress, payload)
  select id, ?, queue, task, priority, run_at, created_at, attempt - ?, max_attempts, ${STARTED}, ${ENDED},
   timeout_ms, retain_ms, retry, ?, progress, payload
  from triphammer_live where id = ?`

/** How a job ends that did not succeed. */
export interface Ended {
  readonly id: string
  readonly state: FinalState
  readonly error: JobFailure
  /** Attempts that are given back (default 0). */
  readonly refunded?: number
  /** Parameter of {@link STARTED} (default 0: at the claim, if there was one). */
  readonly started?: SqliteValue
  /** Parameter of {@link ENDED} (default: now). */
  readonly ended?: SqliteValue
}

/** A condition beside the id, such as the fence of a lease. */
export interface Fence {
  readonly sql: string
  readonly parameters: readonly SqliteValue[]
}

/** Moves a live job to the ended ones. `false`: it is not there, or the fence does not let it. */
export function moveToEnded({ db, now }: Write, job: Ended, fence?: Fence): boolean {
  const { id, state, error, refunded = 0, started = 0, ended = null } = job
  const parameters = [state, refunded, started, ended, now, JSON.stringify(error), id]
  const moved = db.run(fence ? `${MOVE} and ${fence.sql}` : MOVE, [...parameters, ...(fence?.parameters ?? [])])
  if (moved === 0) return false
  db.run('delete from triphammer_live where id = ?', [id])
  return true
}

/** The parameters of {@link STARTED} and {@link ENDED}, as an outcome says them. */
export function timesOf(outcome: Outcome): [started: SqliteValue, ended: SqliteValue] {
  const { startedMs = 0, endedMs } = outcome
  return ['unstarted' in outcome ? null : Math.ceil(startedMs), endedMs === undefined ? null : Math.ceil(endedMs)]
}
