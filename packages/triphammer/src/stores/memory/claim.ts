import type { Ids } from '../../core/ids.ts'
import { LEVELS, levelRange, pickLevel, type Weights } from '../../core/priority.ts'
import type { ClaimRequest, Run, SessionId } from '../../store/types.ts'
import { later, type Row, type RunningRow, runOf } from './row.ts'
import type { LiveRows } from './rows.ts'

/** Leases the next jobs of a queue to a session, except those of `except`. */
export function claimJobs(
  rows: LiveRows,
  ids: Ids,
  now: number,
  request: ClaimRequest,
  except: ReadonlySet<string>,
): { readonly runs: readonly Run[]; readonly dueInMs?: number } {
  const { queue, tasks, limit, weights } = request
  const isOurs = (row: Row): boolean => tasks === undefined || tasks.includes(row.task)
  const accepts = (row: Row): boolean => isOurs(row) && !except.has(row.id)
  const due: Due = (range) => rows.pending.due(queue, now, range)

  const picked = weights ? takeByWeight(due, accepts, limit, weights, ids) : take(due(), accepts, limit)
  const token = picked.length > 0 ? ids.next() : ''
  const runs = picked.map((row) => leaseRow(rows, row, { token, session: request.session, leaseMs: request.leaseMs }, now))
  const next = rows.pending.earliest(queue, isOurs)
  return next === undefined ? { runs } : { runs, dueInMs: Math.max(0, next - now) }
}

/** Makes a row running, by its next attempt. */
export function leaseRow(
  rows: LiveRows,
  row: Row,
  { token, session, leaseMs }: { readonly token: string; readonly session: SessionId; readonly leaseMs: number },
  now: number,
): Run {
  const lease = { token, session, claimedAt: now, until: later(now, leaseMs) }
  const running: RunningRow = { ...row, state: 'running', attempt: row.attempt + 1, startedAt: now, lease }
  rows.put(running)
  return runOf(running)
}

type Due = (range?: { readonly from: number; readonly to: number }) => Iterable<Row>

function take(due: Iterable<Row>, accepts: (row: Row) => boolean, limit: number): Row[] {
  const taken: Row[] = []
  if (limit === 0) return taken
  for (const row of due) {
    if (accepts(row)) taken.push(row)
    if (taken.length === limit) break
  }
  return taken
}

// One level is picked by its weight and gives what it has; if that is too little, another is picked among the rest.
function takeByWeight(due: Due, accepts: (row: Row) => boolean, limit: number, weights: Weights, ids: Ids): Row[] {
  const taken: Row[] = []
  let candidates = LEVELS.filter((level) => take(due(levelRange(level)), accepts, 1).length > 0)
  while (taken.length < limit && candidates.length > 0) {
    const level = pickLevel(candidates, weights, ids.random())
    taken.push(...take(due(levelRange(level)), accepts, limit - taken.length))
    candidates = candidates.filter((other) => other !== level)
  }
  return taken
}
