import type { SqliteConnection } from '../../sql/sqlite-connection.ts'

/** A write that is under way: a transaction at one moment of the store's clock. */
export interface Write {
  readonly db: SqliteConnection
  readonly now: number
  /** Notes that there may be work in a queue, once this write has been committed. */
  wake(queue: string): void
}

/** Counts something that happened, from outside, to a run of a session, whether that has registered or not. */
export function disturb({ db, now }: Write, session: string): void {
  db.run(
    `insert into triphammer_sessions (id, changes, changed_at) values (?, 1, ?)
     on conflict (id) do update set changes = changes + 1, changed_at = excluded.changed_at`,
    [session, now],
  )
}
