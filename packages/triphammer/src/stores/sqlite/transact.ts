import type { SqliteConnection } from '../../sql/sqlite-connection.ts'

/**
 * Runs `work` in a write transaction. It takes the write lock at the start: a transaction that reads first and writes later
 * fails without a wait when another has written in between. Whatever `work` has read is worth nothing if the commit fails,
 * and it is thrown away with the error.
 */
export function transact<T>(db: SqliteConnection, work: () => T): T {
  db.exec('begin immediate')
  try {
    const value = work()
    db.exec('commit')
    return value
  } catch (error) {
    rollBack(db)
    throw error
  }
}

/** Ends an open transaction without a trace. A full disk has ended it already, and what cannot be rolled back shows in `inTransaction`. */
export function rollBack(db: SqliteConnection): void {
  if (!db.inTransaction) return
  try {
    db.exec('rollback')
  } catch {
    // The error that led here is the one to tell.
  }
}
