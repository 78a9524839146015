import { TriphammerError } from '../core/errors.ts'

/** What SQLite is given and gives back here; we use no blobs and no 64-bit integers. */
export type SqliteValue = string | number | null

/** A row by column name. Drivers may add properties of their own, so read columns by name and never spread a row. */
export type SqliteRow = Readonly<Record<string, SqliteValue>>

/** A row as a list of its values, in the order of the columns. */
export type SqliteList = readonly SqliteValue[]

/** The drivers that are known. */
export type SqliteDriverName = 'node:sqlite' | 'libsql' | 'better-sqlite3'

/** A prepared statement; parameters are positional. */
export interface SqliteStatement {
  /** Runs a statement that returns no rows; answers how many rows it changed. */
  run(parameters: readonly SqliteValue[]): number
  /** Runs a statement to its end and returns all its rows. */
  all(parameters: readonly SqliteValue[]): readonly SqliteRow[]
}

/** What an adapter makes of a driver's connection. */
export interface SqliteHandle {
  readonly driver: SqliteDriverName
  /** The driver's own connection. */
  readonly db: object
  /** libsql aborts the process when a connection that has been closed is asked for anything else. */
  readonly isOpen: boolean
  readonly inTransaction: boolean
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  /** A statement whose rows are wanted as lists: where there are many, making objects of them costs as much as reading them. */
  prepareLists(sql: string): (parameters: readonly SqliteValue[]) => readonly SqliteList[]
  close(): void
}

/**
 * A connection with its prepared statements. Every error it throws is a TriphammerError with the driver's own as its cause.
 */
export interface SqliteConnection {
  readonly driver: SqliteDriverName
  readonly db: object
  readonly isOpen: boolean
  /** A connection that has been closed is in none. */
  readonly inTransaction: boolean
  /** Runs statements without parameters and rows, such as `begin immediate`. */
  exec(sql: string): void
  run(sql: string, parameters?: readonly SqliteValue[]): number
  all(sql: string, parameters?: readonly SqliteValue[]): readonly SqliteRow[]
  /** As `all`, each row as a list. */
  lists(sql: string, parameters?: readonly SqliteValue[]): readonly SqliteList[]
  get(sql: string, parameters?: readonly SqliteValue[]): SqliteRow | undefined
  close(): void
}

// Filters of people make statements of many texts; the hot path has about forty.
const MAX_STATEMENTS = 200
const NONE: readonly SqliteValue[] = []

/**
 * Makes a {@link SqliteConnection}.
 *
 * @param classify turns what a driver throws into the error that callers see
 */
export function connectionOn(handle: SqliteHandle, classify: (error: unknown) => unknown): SqliteConnection {
  const statements = createCache((sql) => handle.prepare(sql))
  const lists = createCache((sql) => handle.prepareLists(sql))

  const attempt = <T>(work: () => T): T => {
    if (!handle.isOpen) throw new TriphammerError('STORE_UNAVAILABLE', 'the connection has been closed')
    try {
      return work()
    } catch (error) {
      throw classify(error)
    }
  }
  return {
    driver: handle.driver,
    db: handle.db,
    get isOpen() {
      return handle.isOpen
    },
    get inTransaction() {
      try {
        return handle.isOpen && handle.inTransaction
      } catch {
        return false
      }
    },
    exec: (sql) => attempt(() => handle.exec(sql)),
    run: (sql, parameters = NONE) => attempt(() => statements.get(sql).run(parameters)),
    all: (sql, parameters = NONE) => attempt(() => statements.get(sql).all(parameters)),
    lists: (sql, parameters = NONE) => attempt(() => lists.get(sql)(parameters)),
    get: (sql, parameters = NONE) => attempt(() => statements.get(sql).all(parameters)[0]),
    close() {
      statements.clear()
      lists.clear()
      if (handle.isOpen) attempt(() => handle.close())
    },
  }
}

interface Cache<Value> {
  get(sql: string): Value
  clear(): void
}

function createCache<Value>(prepare: (sql: string) => Value): Cache<Value> {
  const prepared = new Map<string, Value>()
  return {
    get(sql) {
      const known = prepared.get(sql)
      if (known !== undefined) return known
      const statement = prepare(sql)
      const [oldest] = prepared.keys()
      if (prepared.size >= MAX_STATEMENTS && oldest !== undefined) prepared.delete(oldest)
      prepared.set(sql, statement)
      return statement
    },
    clear: () => prepared.clear(),
  }
}
