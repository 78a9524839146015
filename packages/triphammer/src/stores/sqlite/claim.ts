import type { Ids } from '../../core/ids.ts'
import type { SqliteConnection } from '../../sql/sqlite-connection.ts'
import type { Claimed, ClaimRequest, FinishResult, Outcome, Run } from '../../store/types.ts'
import { finishRuns } from './finish.ts'
import { BY_CLAIM_INDEX, duePriorities, firstPriority, nextRunAt, takeInOrder, type Wanted, wantedJobs } from './pick.ts'
import { later, RUN_COLUMNS, runOf } from './rows.ts'
import type { Write } from './write.ts'

/**
 * The answer to a claim that finishes nothing and finds nothing, from reading alone: an idle worker does not take the write
 * lock away from those who have work.
 */
export function lookForWork(db: SqliteConnection, now: number, request: ClaimRequest): Claimed | undefined {
  const nothing: Claimed = { runs: [], finished: [] }
  if (isPaused(db, request.queue)) return nothing
  const wanted = wantedOf(request, now, [])
  if (request.limit > 0 && duePriorities(db, wanted).length > 0) return undefined
  return { ...nothing, ...dueIn(db, wanted) }
}

/** Finishes what the request hands in, and claims. */
export function finishAndClaim(write: Write, ids: Ids, request: ClaimRequest): Claimed {
  const outcomes = request.finish ?? []
  const finished = finishRuns(write, outcomes)
  if (isPaused(write.db, request.queue)) return { runs: [], finished }

  const wanted = wantedOf(request, write.now, stillThere(outcomes, finished))
  const runs = request.limit > 0 ? claim(write, ids, request, wanted) : []
  return { runs, finished, ...(runs.length < request.limit ? dueIn(write.db, wanted) : {}) }
}

function claim(write: Write, ids: Ids, { session, limit, leaseMs, weights }: ClaimRequest, wanted: Wanted): Run[] {
  const { db } = write
  const lease = { token: ids.next(), session, until: later(write.now, leaseMs) }
  const runs: Run[] = []
  const take = (priority: number): boolean => {
    runs.push(...takeFrom(write, priority, limit - runs.length, lease, wanted))
    return runs.length < limit
  }
  if (!weights) {
    // The most urgent priority fills most claims, and then nobody has to look for the others.
    const first = firstPriority(db, wanted.queue)
    if (first === undefined || !take(first)) return runs
  }
  takeInOrder(duePriorities(db, wanted), weights, ids, take)
  return runs
}

interface NewLease {
  readonly token: string
  readonly session: string
  readonly until: number
}

// By id, through its index: without one to name, SQLite scans the table for rowids once an `analyze` has seen it nearly empty.
function takeFrom({ db, now }: Write, priority: number, limit: number, lease: NewLease, wanted: Wanted): Run[] {
  const { sql, parameters } = wantedJobs(wanted)
  const rows = db.lists(
    `update triphammer_live indexed by triphammer_live_id set token = ?, session = ?, lease_until = ?, started_at = ?, attempt = attempt + 1
     where id in (select id from ${BY_CLAIM_INDEX} where priority = ? and ${sql} order by run_at, id limit ?)
     returning ${RUN_COLUMNS}`,
    [lease.token, lease.session, lease.until, now, priority, ...parameters, limit],
  )
  const leased = { queue: wanted.queue, priority, token: lease.token, claimedAt: now }
  // SQLite returns changed rows in whatever order it changed them.
  return rows.map((row) => runOf(row, leased)).sort((a, b) => a.runAt - b.runAt || (a.id < b.id ? -1 : 1))
}

function isPaused(db: SqliteConnection, queue: string): boolean {
  return db.get('select 1 from triphammer_queues where name = ? and paused_since is not null', [queue]) !== undefined
}

function wantedOf({ queue, tasks }: ClaimRequest, now: number, except: readonly string[]): Wanted {
  return { queue, now, tasks, except }
}

// Whatever was not ended just now could be claimed again, and shall not be by the same call.
function stillThere(outcomes: readonly Outcome[], finished: readonly FinishResult[]): string[] {
  return outcomes.filter(({ kind }, at) => finished[at]!.state !== 'applied' || RETURNS.has(kind)).map(({ lease }) => lease.id)
}

const RETURNS: ReadonlySet<Outcome['kind']> = new Set(['retry', 'snooze', 'release'])

// With a filter for tasks only what is still to come counts: due jobs of other tasks would say "now" for ever.
function dueIn(db: SqliteConnection, { queue, tasks, now, except }: Wanted): { readonly dueInMs?: number } {
  const next = nextRunAt(db, queue, tasks && except.length === 0 ? now + 1 : 0)
  return next === undefined ? {} : { dueInMs: Math.max(0, next - now) }
}
