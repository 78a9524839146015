import type { Ids } from '../../core/ids.ts'
import type { ReclaimRequest, Run } from '../../store/types.ts'
import { later, type RunningRow, runOf } from './row.ts'
import type { LiveRows } from './rows.ts'

/** Takes runs whose leases have ended, those that ended first coming first, and leases them to the caller. */
export function reclaimRuns(rows: LiveRows, ids: Ids, now: number, request: ReclaimRequest): readonly Run[] {
  const { session, limit, queues, leaseMs } = request
  const expired = [...rows.running.values()]
    .filter((row) => row.lease.until <= now && (queues === undefined || queues.includes(row.queue)))
    .sort((a, b) => a.lease.until - b.lease.until || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
  const token = expired.length > 0 ? ids.next() : ''
  return expired.map((row) => {
    const { session: holder, claimedAt } = row.lease
    const taken: RunningRow = { ...row, lease: { token, session, claimedAt, until: later(now, leaseMs) } }
    rows.put(taken)
    if (holder !== session) rows.disturb(holder)
    return runOf(taken)
  })
}
