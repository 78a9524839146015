import { TriphammerError } from '../../core/errors.ts'
import type { SqliteConnection } from '../../sql/sqlite-connection.ts'
import { schemaMissing } from '../../sql/sqlite-errors.ts'
import type { Migration, SchemaStatus } from '../../store/store.ts'
import { MIGRATIONS } from './migrations/index.ts'

/** Watches over the schema of one database. */
export interface SchemaKeeper {
  /**
   * Whether the schema is one that this library works on: a single cheap read while nothing changes it. It is asked before
   * every read and write, so that a running store notices what a newer library did to the database.
   *
   * @throws TriphammerError `SCHEMA_TOO_NEW`
   */
  isCurrent(db: SqliteConnection): boolean
  /**
   * Sees to it that it is, within a transaction that may write.
   *
   * @throws TriphammerError `SCHEMA_MISSING`, `SCHEMA_TOO_NEW`
   */
  ensure(db: SqliteConnection, now: number): void
}

/** Makes a {@link SchemaKeeper}. `migrate`: bring up to date what is behind, rather than refuse. */
export function createSchemaKeeper(file: string, migrate: boolean): SchemaKeeper {
  // SQLite counts the changes of a database's schema, and takes the count back with a rollback. A count is noted only for a
  // schema that was found in order without a change of ours: the change might be rolled back yet.
  const known = new WeakMap<SqliteConnection, number>()

  const isCurrent = (db: SqliteConnection): boolean => {
    const version = Number(db.get('pragma schema_version')?.['schema_version'])
    if (known.get(db) === version) return true
    const status = readStatus(db)
    refuseNewer(status, file)
    if (status.pending.length > 0) return false
    known.set(db, version)
    return true
  }
  return {
    isCurrent,
    ensure(db, now) {
      if (isCurrent(db)) return
      if (!migrate) throw schemaMissing(file)
      applyPending(db, readStatus(db).pending, now)
    },
  }
}

/** How far the schema is. */
export function readStatus(db: SqliteConnection): SchemaStatus {
  const applied = readApplied(db)
  const ids = new Set(applied.map(({ id }) => id))
  return {
    applied,
    pending: MIGRATIONS.filter(({ id }) => !ids.has(id)),
    unknown: applied.filter(({ id }) => !MIGRATIONS.some((known) => known.id === id)),
  }
}

/** @throws TriphammerError `SCHEMA_TOO_NEW`: a step that this library does not know breaks it */
export function refuseNewer({ unknown }: SchemaStatus, file: string): void {
  const breaking = unknown.find((step) => step.breaking)
  if (!breaking) return
  throw new TriphammerError(
    'SCHEMA_TOO_NEW',
    `${file} has step ${breaking.id} (${breaking.name}) of a newer version of triphammer, which this version cannot work with; update triphammer`,
  )
}

/** Applies steps, within a transaction that may write. */
export function applyPending(db: SqliteConnection, pending: readonly Migration[], now: number): void {
  db.exec(`create table if not exists triphammer_migrations (
    id integer not null primary key, name text not null, breaking integer not null, applied_at integer not null
  ) strict`)
  for (const { id, name, breaking, sql } of pending) {
    db.exec(sql)
    db.run('insert into triphammer_migrations (id, name, breaking, applied_at) values (?, ?, ?, ?)', [id, name, breaking ? 1 : 0, now])
  }
}

function readApplied(db: SqliteConnection): Omit<Migration, 'sql'>[] {
  if (!db.get("select 1 from sqlite_schema where type = 'table' and name = 'triphammer_migrations'")) return []
  return db.all('select id, name, breaking from triphammer_migrations order by id').map((row) => ({
    id: Number(row['id']),
    name: String(row['name']),
    breaking: row['breaking'] === 1,
  }))
}
