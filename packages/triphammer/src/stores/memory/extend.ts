import type { ExtendOptions, LeaseRef, LeaseState } from '../../store/types.ts'
import { holds, later } from './row.ts'
import type { Rows } from './rows.ts'

/** Extends leases, or only looks at them, and says how each of them stands. */
export function extendLeases(
  rows: Rows,
  now: number,
  leases: readonly LeaseRef[],
  options: ExtendOptions,
  isPaused: (queue: string) => boolean,
): readonly LeaseState[] {
  const { leaseMs, progress } = options
  return leases.map(({ id, token }) => {
    const row = rows.get(id)
    if (!holds(row, token)) return { state: 'lost' }
    const until = leaseMs === undefined ? row.lease.until : Math.max(row.lease.until, later(now, leaseMs))
    rows.put({ ...row, lease: { ...row.lease, until }, progress: progress?.get(id) ?? row.progress })
    if (row.cancel) return { state: 'cancel' }
    return { state: isPaused(row.queue) ? 'paused' : 'held' }
  })
}
