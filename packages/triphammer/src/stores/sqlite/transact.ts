import { isTriphammerError } from '../../core/errors.ts'
import type { SqliteConnection } from '../../sql/sqlite-connection.ts'

/**
 * Runs `work` in a write transaction. It takes the write lock at the start: a transaction that reads first and writes later
 * fails without a wait when another has written in between. Whatever `work` has read is worth nothing if the commit fails,
 * and it is thrown away with the error.
 */
export function transact<T>(db: SqliteConnection, work: () => T): T {
  db.exec('begin immediate')
  return ended(db, work, { well: 'commit', badly: 'rollback' })
}

/**
 * Does `work` within an open transaction, all of it or nothing, whatever becomes of the transaction afterwards. Where no
 * savepoint can be had it is done without.
 */
export function wholly<T>(db: SqliteConnection, work: () => T): T {
  if (!saved(db, 'triphammer_verb')) return work()
  return ended(db, work, { well: 'release triphammer_verb', badly: 'rollback to triphammer_verb; release triphammer_verb' })
}

function ended<T>(db: SqliteConnection, work: () => T, { well, badly }: { readonly well: string; readonly badly: string }): T {
  try {
    const value = work()
    db.exec(well)
    return value
  } catch (error) {
    undo(db, badly)
    throw error
  }
}

/** Ends an open transaction without a trace. What cannot be rolled back shows in `inTransaction`. */
export function rollBack(db: SqliteConnection): void {
  undo(db, 'rollback')
}

function undo(db: SqliteConnection, sql: string): void {
  if (!db.inTransaction) return // a full disk has taken back all of it
  try {
    db.exec(sql)
  } catch {
    // The error that led here is the one to tell.
  }
}

/**
 * Changes `rows` rows at once, or none: where fewer are changed than were meant, nothing stays of it, and the caller goes on
 * row by row to see which. For use within a transaction.
 */
export function changeAll(db: SqliteConnection, rows: number, change: () => number): boolean {
  if (!saved(db, 'triphammer_rows')) return false
  const done = change() === rows
  if (!done) db.exec('rollback to triphammer_rows')
  db.exec('release triphammer_rows')
  return done
}

// SQLite opens no savepoint beside a write that has not come to its end, and libsql leaves one like that behind when it met a
// lock, until the same statement is run again.
function saved(db: SqliteConnection, name: string): boolean {
  try {
    db.exec(`savepoint ${name}`)
    return true
  } catch (error) {
    if (isTriphammerError(error, 'STORE_BUSY')) return false
    throw error
  }
}
