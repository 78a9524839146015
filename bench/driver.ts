import { createRequire } from 'node:module'

/** The parts that node:sqlite and libsql have in common. */
export interface Db {
  exec(sql: string): unknown
  prepare(sql: string): { run(...parameters: unknown[]): unknown; all(...parameters: unknown[]): Record<string, unknown>[] }
  close(): unknown
}
type DbClass = new (file: string) => Db

const builtin = process.getBuiltinModule('node:sqlite') as unknown as { readonly DatabaseSync: DbClass } | undefined

/** The driver that the library picks here, and so the one of the bare loop as well. */
export const DRIVER: 'node:sqlite' | 'libsql' = builtin ? 'node:sqlite' : 'libsql'

const DriverDb: DbClass = builtin?.DatabaseSync ?? (createRequire(import.meta.url)('libsql') as DbClass)

/** Opens a file with the driver. It waits a minute for a lock: whoever measures several processes has them meet. */
export function openDb(file: string): Db {
  const db = new DriverDb(file)
  db.exec('pragma busy_timeout = 60000')
  return db
}

/** The only column of the only row of a query. */
export function single(db: Db, sql: string): unknown {
  const [row] = db.prepare(sql).all()
  return row && Object.values(row)[0]
}

/**
 * Brings what stands in the log into the database, so that no drain pays for the filling before it. Closing does so as a rule, but
 * a connection of libsql closes only when its statements are collected.
 */
export function emptyLog(file: string): void {
  const db = openDb(file)
  const isBusy = single(db, 'pragma wal_checkpoint(truncate)')
  db.close()
  if (isBusy !== 0) throw new Error(`the log of ${file} could not be emptied`)
}
