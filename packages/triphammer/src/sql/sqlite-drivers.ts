import { createRequire } from 'node:module'
import { TriphammerError } from '../core/errors.ts'
import type { SqliteDriverName } from './sqlite-connection.ts'
import type { SqliteClass } from './sqlite-handles.ts'

/** A driver that has been loaded. */
export interface SqliteDriver {
  readonly name: SqliteDriverName
  readonly sqliteClass: SqliteClass
}

/** In the order in which they are tried. */
export const SQLITE_DRIVERS: readonly SqliteDriverName[] = ['node:sqlite', 'libsql', 'better-sqlite3']

const require = createRequire(import.meta.url)

/**
 * Loads the driver that was asked for, or the first that is there.
 *
 * @throws TriphammerError `DRIVER_MISSING`
 */
export function loadDriver(wanted: SqliteDriverName | undefined): SqliteDriver {
  const failures: unknown[] = []
  for (const name of wanted === undefined ? SQLITE_DRIVERS : [wanted]) {
    try {
      const sqliteClass = LOADERS[name]()
      if (sqliteClass) return { name, sqliteClass }
    } catch (error) {
      failures.push(error)
    }
  }
  const what = wanted === undefined ? 'no SQLite driver was found' : `the SQLite driver ${wanted} was not found`
  throw new TriphammerError('DRIVER_MISSING', `${what}: ${wayOut(wanted)}`, { cause: causeOf(failures) })
}

// A driver that is there and cannot be loaded would be hidden behind the next, which is merely not there.
function causeOf(failures: readonly unknown[]): unknown {
  return failures.length > 1 ? new AggregateError(failures, failures.map((failure) => (failure as Error).message).join('; ')) : failures[0]
}

const LOADERS: Readonly<Record<SqliteDriverName, () => SqliteClass | undefined>> = {
  'node:sqlite': loadNodeSqlite,
  libsql: () => require('libsql') as SqliteClass,
  'better-sqlite3': () => require('better-sqlite3') as SqliteClass,
}

function wayOut(wanted: SqliteDriverName | undefined): string {
  if (wanted === 'node:sqlite') return `Node has it from 22.13 on, this is ${process.version}`
  if (wanted !== undefined) return `npm install ${wanted}`
  return 'npm install libsql, or use Node 22.13 or newer, which has one built in'
}

// Node 22 warns that node:sqlite is experimental when it is loaded. The warning is not ours to show to those who only use
// a queue; every other warning passes.
function loadNodeSqlite(): SqliteClass | undefined {
  const emit = process.emitWarning
  const filtered = (...call: Parameters<typeof process.emitWarning>): void => {
    if (!String(call[0]).startsWith('SQLite is an experimental feature')) Reflect.apply(emit, process, call)
  }
  process.emitWarning = filtered as typeof process.emitWarning
  try {
    const builtin = process.getBuiltinModule('node:sqlite') as { readonly DatabaseSync: SqliteClass } | undefined
    return builtin?.DatabaseSync
  } finally {
    process.emitWarning = emit
  }
}
