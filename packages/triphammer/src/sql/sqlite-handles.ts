import type { SqliteDriverName, SqliteHandle, SqliteRow, SqliteValue } from './sqlite-connection.ts'

/** The parts of a `node:sqlite` connection that are used here. */
interface NodeSqlite {
  /** Both are absent before Node 22.15 and 22.16. */
  readonly isOpen?: boolean
  readonly isTransaction?: boolean
  exec(sql: string): void
  prepare(sql: string): {
    run(...parameters: SqliteValue[]): { readonly changes: number | bigint }
    all(...parameters: SqliteValue[]): SqliteRow[] | SqliteValue[][]
    setReadBigInts(on: boolean): void
    setReturnArrays?(on: boolean): void
  }
  close(): void
}

/** The parts of a better-sqlite3 connection that are used here; libsql has the same. */
interface BetterSqlite {
  readonly open: boolean
  readonly inTransaction: boolean
  exec(sql: string): void
  prepare(sql: string): {
    run(parameters: readonly SqliteValue[]): { readonly changes: number }
    all(parameters: readonly SqliteValue[]): SqliteRow[] | SqliteValue[][]
    safeIntegers(on: boolean): unknown
    raw(on: boolean): unknown
  }
  close(): void
}

/** The class of which a driver's connections are. */
export type SqliteClass = new (file: string) => object

/**
 * Which driver a connection is of, recognised by its shape, and the class that made it; `undefined` for anything else.
 * Asynchronous look-alikes (`libsql/promise`) are not recognised: what they are asked is not done when they return.
 */
export function recognise(db: object): { readonly driver: SqliteDriverName; readonly sqliteClass: SqliteClass } | undefined {
  const sqliteClass = baseClass(db)
  if (!sqliteClass || !hasMethods(db, ['prepare', 'exec', 'close'])) return undefined
  const driver = driverOf(db, sqliteClass)
  return driver && { driver, sqliteClass }
}

function driverOf(db: object, { name }: SqliteClass): SqliteDriverName | undefined {
  if (name === 'DatabaseSync' && hasMethods(db, ['createSession'])) return 'node:sqlite'
  if (!('inTransaction' in db) || !hasMethods(db, ['pragma', 'transaction', 'defaultSafeIntegers'])) return undefined
  if (hasMethods(db, ['syncUntil'])) return isAsync(db, 'exec') ? undefined : 'libsql'
  return hasMethods(db, ['serialize', 'backup']) ? 'better-sqlite3' : undefined
}

// The class at the root: a subclass of the user's may have a constructor of its own.
function baseClass(db: object): SqliteClass | undefined {
  let found: SqliteClass | undefined
  for (let proto = Object.getPrototypeOf(db); proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    if (typeof proto.constructor === 'function') found = proto.constructor
  }
  return found
}

function hasMethods(db: object, names: readonly string[]): boolean {
  return names.every((name) => typeof (db as Record<string, unknown>)[name] === 'function')
}

function isAsync(db: object, method: string): boolean {
  return (db as Record<string, unknown>)[method]?.constructor.name === 'AsyncFunction'
}

/** The adapter over a connection of this driver. */
export function handleOn(driver: SqliteDriverName, db: object): SqliteHandle {
  return driver === 'node:sqlite' ? nodeHandle(db as NodeSqlite) : betterHandle(driver, db as BetterSqlite)
}

function nodeHandle(db: NodeSqlite): SqliteHandle {
  return {
    driver: 'node:sqlite',
    db,
    get isOpen() {
      return db.isOpen ?? probeOpen(db)
    },
    get inTransaction() {
      return db.isTransaction ?? probeTransaction(db)
    },
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      const statement = db.prepare(sql)
      // The connection may be the user's, with defaults of the user's.
      statement.setReadBigInts(false)
      statement.setReturnArrays?.(false)
      return {
        run: (parameters) => Number(statement.run(...parameters).changes),
        all: (parameters) => statement.all(...parameters) as SqliteRow[],
      }
    },
    prepareLists(sql) {
      const statement = db.prepare(sql)
      statement.setReadBigInts(false)
      // Node before 22.16 only knows rows as objects.
      if (!statement.setReturnArrays) return (parameters) => statement.all(...parameters).map((row) => Object.values(row))
      statement.setReturnArrays(true)
      return (parameters) => statement.all(...parameters) as SqliteValue[][]
    },
    close: () => db.close(),
  }
}

function probeOpen(db: NodeSqlite): boolean {
  try {
    db.exec('')
    return true
  } catch {
    return false
  }
}

// Node before 22.16 does not tell. A deferred transaction takes no lock until its first statement, so opening one only
// shows whether another is open.
function probeTransaction(db: NodeSqlite): boolean {
  try {
    db.exec('begin')
  } catch {
    return true
  }
  db.exec('rollback')
  return false
}

function betterHandle(driver: SqliteDriverName, db: BetterSqlite): SqliteHandle {
  return {
    driver,
    db,
    get isOpen() {
      return db.open
    },
    get inTransaction() {
      return db.inTransaction
    },
    exec: (sql) => void db.exec(sql),
    prepare(sql) {
      const statement = db.prepare(sql)
      statement.safeIntegers(false)
      // Parameters go in as one array: libsql takes a single value that is an object for named parameters, and aborts the
      // process when it is a Buffer.
      return {
        run: (parameters) => statement.run(parameters).changes,
        all: (parameters) => statement.all(parameters) as SqliteRow[],
      }
    },
    prepareLists(sql) {
      const statement = db.prepare(sql)
      statement.safeIntegers(false)
      statement.raw(true)
      return (parameters) => statement.all(parameters) as SqliteValue[][]
    },
    close: () => db.close(),
  }
}
