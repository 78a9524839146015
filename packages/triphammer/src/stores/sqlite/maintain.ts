import { statSync } from 'node:fs'
import type { SqliteConnection } from '../../sql/sqlite-connection.ts'
import type { Maintained } from '../../store/types.ts'
import { forgetSessions, hasDeadSessions } from './beat.ts'
import type { Write } from './write.ts'

/** Whether a pass has anything to do; most find nothing and need no write lock. */
export function needsMaintenance(db: SqliteConnection, now: number): boolean {
  return db.get('select 1 from triphammer_history where keep_until <= ?', [now]) !== undefined || hasDeadSessions(db, now)
}

/** Removes completed jobs whose time is over, at most `limit` of them, and forgets dead sessions. */
export function maintain(write: Write, limit: number): Maintained {
  forgetSessions(write)
  const { db, now } = write
  const removed = db.run(
    `delete from triphammer_history indexed by triphammer_history_id where id in (
       select id from triphammer_history indexed by triphammer_history_keep where keep_until <= ? order by keep_until limit ?)`,
    [now, limit],
  )
  const more = removed === limit && db.get('select 1 from triphammer_history where keep_until <= ?', [now]) !== undefined
  return { removed, more }
}

/**
 * Brings a write-ahead log back to nothing when it has grown beyond the limit: SQLite writes over it from the start only
 * when no reader stands in the way, and never makes it smaller by itself. If someone is reading just now, the next pass
 * tries again.
 */
export function truncateWal(db: SqliteConnection, file: string, limitBytes: number): void {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > limitBytes) db.get('pragma wal_checkpoint(truncate)')
}
