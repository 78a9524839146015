import { cancelFailure, type JobFailure } from '../../core/failure.ts'
import type { FinalState } from '../../core/state.ts'
import type { SqliteValue } from '../../sql/sqlite-connection.ts'
import type { FinishResult, Outcome } from '../../store/types.ts'
import { complete, completeTogether } from './complete.ts'
import { FENCED, FREE, moveToEnded, timesOf } from './ended.ts'
import { enqueueJobs } from './enqueue.ts'
import { cancelReason, later, number, text } from './rows.ts'
import type { Write } from './write.ts'

/** Writes outcomes, each fenced by its lease. */
export function finishRuns(write: Write, outcomes: readonly Outcome[]): readonly FinishResult[] {
  const completed = completeTogether(write, outcomes)
  return outcomes.map((outcome) => {
    const state = completed.has(outcome) || settle(write, outcome) ? 'applied' : refusal(write, outcome)
    if (state === 'applied' && outcome.spawn) enqueueJobs(write, outcome.spawn)
    return RESULTS[state]
  })
}

const RESULTS: Readonly<Record<FinishResult['state'], FinishResult>> = {
  applied: { state: 'applied', ended: [], released: [] },
  stale: { state: 'stale', ended: [], released: [] },
  cancel: { state: 'cancel', ended: [], released: [] },
}

const HELD = `id = ? and ${FENCED}`
const FREE_TO_END = `id = ? and ${FREE}`

/** Why an outcome was not written. */
function refusal({ db }: Write, { lease }: Outcome): 'stale' | 'cancel' {
  return db.get(`select 1 from triphammer_live where ${HELD}`, [lease.id, lease.token]) ? 'cancel' : 'stale'
}

function settle(write: Write, outcome: Outcome): boolean {
  const { now } = write
  switch (outcome.kind) {
    case 'completed':
      return complete(write, outcome)
    case 'retry':
      return putBack(write, outcome, RETRY, [
        outcome.at ?? later(now, outcome.delayMs),
        Math.ceil(outcome.startedMs ?? 0),
        JSON.stringify(outcome.error),
      ])
    case 'snooze':
      return putBack(write, outcome, SNOOZE, [later(now, outcome.delayMs)])
    case 'release':
      return putBack(write, outcome, RELEASE, [])
    case 'cancelled':
      return cancel(write, outcome, outcome.reason)
    case 'dead':
    case 'timed_out':
    case 'failed':
      return fail(write, outcome, outcome.kind, outcome.error, FREE)
  }
}

const BACK = 'lease_until = null, token = null, session = null'
const RETRY = `${BACK}, run_at = ?, started_at = started_at + ?, error = ?`
const SNOOZE = `${BACK}, run_at = ?, started_at = null, attempt = attempt - 1`
const RELEASE = `${BACK}, started_at = null, attempt = attempt - 1`

function putBack({ db, now, wake }: Write, { lease }: Outcome, changes: string, values: readonly SqliteValue[]): boolean {
  const [row] = db.all(`update triphammer_live set ${changes} where ${FREE_TO_END} returning queue, run_at`, [
    ...values,
    lease.id,
    lease.token,
  ])
  if (row && number(row, 'run_at') <= now) wake(text(row, 'queue'))
  return row !== undefined
}

function fail(write: Write, outcome: Outcome, state: FinalState, error: JobFailure, fence: string): boolean {
  const { id, token } = outcome.lease
  const [started, ended] = timesOf(outcome)
  const refunded = 'unstarted' in outcome ? 1 : 0
  return moveToEnded(write, { id, state, error, refunded, started, ended }, { sql: fence, parameters: [token] })
}

function cancel(write: Write, outcome: Outcome, reason: string | undefined): boolean {
  const { id, token } = outcome.lease
  const row = write.db.get(`select cancel from triphammer_live where ${HELD}`, [id, token])
  if (!row) return false
  return fail(write, outcome, 'cancelled', cancelFailure(reason ?? cancelReason(row)), FENCED)
}
