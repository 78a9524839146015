import { cancelFailure } from '../../core/failure.ts'
import type { FinalState } from '../../core/state.ts'
import type { FinishResult, Outcome } from '../../store/types.ts'
import { enqueueJobs } from './enqueue.ts'
import { holds, later, type Row, type RunningRow } from './row.ts'
import type { Rows } from './rows.ts'
import type { Write } from './transaction.ts'

/** Writes outcomes, each fenced by its lease. */
export function finishRuns(outcomes: readonly Outcome[], now: number): Write<readonly FinishResult[]> {
  return (rows) => {
    const states = outcomes.map((outcome) => finish(rows, outcome, now))
    const applied = outcomes.filter((_, index) => states[index] === 'applied')
    return {
      answer: states.map((state) => ({ state, ended: [], released: [] })),
      again: (others) => applied.every((outcome) => finish(others, outcome, now) === 'applied'),
    }
  }
}

function finish(rows: Rows, outcome: Outcome, now: number): FinishResult['state'] {
  const row = rows.get(outcome.lease.id)
  if (!holds(row, outcome.lease.token)) return 'stale'
  if (row.cancel && outcome.kind !== 'cancelled') return 'cancel'
  const after = settle(row, outcome, now)
  if (after.state === 'completed' && after.retainMs === 0) rows.delete(row.id)
  else rows.put(after)
  if (outcome.spawn) enqueueJobs(outcome.spawn, now)(rows)
  return 'applied'
}

function settle(row: RunningRow, outcome: Outcome, now: number): Row {
  const started = 'unstarted' in outcome ? refunded(row) : { ...row, startedAt: later(row.lease.claimedAt, outcome.startedMs ?? 0) }
  const endedAt = outcome.endedMs === undefined ? now : later(row.lease.claimedAt, outcome.endedMs)
  switch (outcome.kind) {
    case 'completed':
      return { ...ended(started, 'completed', endedAt), result: outcome.result }
    case 'retry':
      return { ...waiting(started, outcome.at ?? later(now, outcome.delayMs)), error: outcome.error }
    case 'snooze':
      return refunded(waiting(row, later(now, outcome.delayMs)))
    case 'release':
      return refunded(waiting(row, row.runAt))
    case 'cancelled':
      return { ...ended(started, 'cancelled', endedAt), error: cancelFailure(outcome.reason ?? row.cancel?.reason) }
    case 'dead':
    case 'timed_out':
    case 'failed':
      return { ...ended(started, outcome.kind, endedAt), error: outcome.error }
  }
}

/** The row of a job that waits to run (again) at `runAt`, held by nobody. */
export function waiting(row: Row, runAt: number): Row {
  return { ...row, state: 'pending', runAt, lease: undefined, cancel: undefined }
}

/** The row of a job that has ended. */
export function ended(row: Row, state: FinalState, endedAt: number): Row {
  return { ...row, state, endedAt, lease: undefined, cancel: undefined }
}

// As if the claim had not been: the attempt does not count and nothing has started.
function refunded<AnyRow extends Row>(row: AnyRow): AnyRow {
  return { ...row, attempt: row.attempt - 1, startedAt: undefined }
}
