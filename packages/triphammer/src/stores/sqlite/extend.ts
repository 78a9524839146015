import type { SqliteConnection } from '../../sql/sqlite-connection.ts'
import type { ExtendOptions, LeaseRef, LeaseState } from '../../store/types.ts'
import { later, orNull } from './rows.ts'
import type { Write } from './write.ts'

/** Extends leases and notes progress; one that is not the caller's any more is left alone. */
export function extendLeases({ db, now }: Write, leases: readonly LeaseRef[], { leaseMs, progress }: ExtendOptions): void {
  const until = leaseMs === undefined ? 0 : later(now, leaseMs)
  for (const { id, token } of leases) {
    db.run(`update triphammer_live set lease_until = max(lease_until, ?), progress = coalesce(?, progress) where id = ? and token = ?`, [
      until,
      orNull(progress?.get(id)),
      id,
      token,
    ])
  }
}

/** Whether an extend has anything to write. */
export function extendWrites(leases: readonly LeaseRef[], { leaseMs, progress }: ExtendOptions): boolean {
  return leases.length > 0 && (leaseMs !== undefined || (progress !== undefined && progress.size > 0))
}

/** How each lease stands. */
export function lookAtLeases(db: SqliteConnection, leases: readonly LeaseRef[]): readonly LeaseState[] {
  return leases.map(({ id, token }) => {
    const row = db.get(
      `select cancel, (select paused_since from triphammer_queues where name = queue) as paused_since
       from triphammer_live where id = ? and token = ?`,
      [id, token],
    )
    if (!row) return { state: 'lost' }
    if (row['cancel'] !== null) return { state: 'cancel' }
    return { state: row['paused_since'] === null ? 'held' : 'paused' }
  })
}
