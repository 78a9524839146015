import { isTriphammerError, TriphammerError } from '../../core/errors.ts'
import type { SqliteConnection } from '../../sql/sqlite-connection.ts'
import { loadDriver, type SqliteDriver } from '../../sql/sqlite-drivers.ts'
import { openConnection } from './open.ts'
import type { Settings } from './options.ts'
import { lockNews, type Patience, retryBusy } from './retry-busy.ts'
import type { SameFile } from './same-file.ts'
import type { SchemaKeeper } from './schema.ts'
import { transact } from './transact.ts'
import { createTurns } from './turns.ts'
import type { Write } from './write.ts'

/**
 * The store's own connections: one for all its verbs, and one more on which {@link transaction} runs the user's.
 *
 * ```
 * read, write ──► main: opened at the first call; a verb runs on it in one go, so no two verbs ever meet
 * transaction ──► second: one transaction at a time, open while its function awaits
 * ```
 *
 * A database in memory has one connection for both: while a transaction is open on it, it is as locked as a file would be.
 */
export interface Database {
  /** The driver's class that all connections of this process to this database come from; picked at the first use. */
  readonly driver: SqliteDriver | undefined
  /** Decides the driver, if neither an option nor the first use has. */
  preferDriver(driver: SqliteDriver): void
  /** Runs on the main connection as it is, whatever its schema. */
  bare<T>(work: (db: SqliteConnection) => T): Promise<T>
  /** Reads from a database whose schema is in order. */
  read<T>(work: (db: SqliteConnection, now: number) => T): Promise<T>
  /** Writes in one transaction, whose schema is in order. */
  write<T>(work: (write: Write) => T): Promise<T>
  /** Opens a transaction on the second connection; whoever asked for it ends it and calls `leave`. */
  enter(): Promise<{ readonly db: SqliteConnection; leave(): void }>
  /** The main connection, if it is open and no transaction of the user's is on it. */
  idle(): SqliteConnection | undefined
  /** @throws TriphammerError `STORE_CLOSED` */
  checkOpen(): void
  close(): void
}

/** What a {@link Database} tells. */
export interface DatabaseEvents {
  opened(): void
  /** A write has been committed that may have brought work into these queues. */
  committed(queues: ReadonlySet<string>): void
  /** A write has waited so many milliseconds for the lock, and got it or gave up. */
  waited(ms: number): void
}

/** What {@link createDatabase} works with. */
export interface DatabaseParts {
  readonly settings: Settings
  readonly schema: SchemaKeeper
  readonly sameFile: SameFile
  readonly events: DatabaseEvents
}

/** Makes a {@link Database}; nothing is opened yet. */
export function createDatabase({ settings, schema, sameFile, events }: DatabaseParts): Database {
  const { file, isMemory, clock, ids } = settings
  const patience: Patience = { clock, ids, news: lockNews(file, isMemory) }
  let driver: SqliteDriver | undefined
  let main: SqliteConnection | undefined
  let second: SqliteConnection | undefined
  let occupied = false
  let closed = false

  const checkOpen = (): void => {
    if (closed) throw new TriphammerError('STORE_CLOSED', `the store of ${file} has been closed`)
  }
  const connect = (): SqliteConnection => {
    driver ??= loadDriver(settings.driver)
    return openConnection(driver, settings, sameFile)
  }
  const connectMain = (): SqliteConnection => {
    if (isMemory && occupied)
      throw new TriphammerError('STORE_BUSY', 'a transaction is open on the database in memory, which has only one connection')
    if (main) return main
    main = connect()
    events.opened()
    return main
  }
  // A connection that reports more than a lock may be of no use any more: the next call opens another. One in memory is the database.
  const discard = (error: unknown): void => {
    if (isMemory || !main) return
    if (!main.inTransaction && !isTriphammerError(error, 'STORE_UNAVAILABLE')) return
    closeQuietly(main)
    main = undefined
    if (occupied || !second) return
    closeQuietly(second)
    second = undefined
  }
  const turn = createTurns(clock)
  const attempt = <T>(work: (db: SqliteConnection) => T): Promise<T> =>
    retryBusy(patience, () => {
      checkOpen()
      const db = connectMain()
      try {
        sameFile.check(db)
        const value = work(db)
        sameFile.check(db) // what was written to a file that is gone is not acknowledged
        return value
      } catch (error) {
        discard(error)
        throw error
      }
    })
  const bare: Database['bare'] = (work) => {
    const pause = turn()
    return pause ? pause.then(() => attempt(work)) : attempt(work)
  }
  const ensureSchema = (db: SqliteConnection): void => {
    if (!schema.isCurrent(db)) transact(db, () => schema.ensure(db, clock.now()))
  }

  return {
    get driver() {
      return driver
    },
    preferDriver(preferred) {
      driver ??= settings.driver === undefined ? preferred : loadDriver(settings.driver)
    },
    bare,
    read: (work) =>
      bare((db) => {
        ensureSchema(db)
        return work(db, clock.now())
      }),
    async write(work) {
      const woken = new Set<string>()
      const from = clock.monotonic()
      const value = await bare((db) => {
        woken.clear()
        return transact(db, () => {
          events.waited(clock.monotonic() - from)
          const now = clock.now()
          schema.ensure(db, now)
          return work({ db, now, wake: (queue) => void woken.add(queue) })
        })
      }).catch((error: unknown) => {
        events.waited(clock.monotonic() - from)
        throw error
      })
      if (woken.size > 0) events.committed(woken)
      return value
    },
    async enter() {
      await turn()
      const db = await retryBusy(patience, () => {
        checkOpen()
        if (isMemory) return begun(connectMain())
        if (!second?.isOpen) second = connect() // a user's function might have closed it
        try {
          sameFile.check(second)
          return begun(second)
        } catch (error) {
          if (!isTriphammerError(error, 'STORE_BUSY')) {
            closeQuietly(second)
            second = undefined
          }
          throw error
        }
      })
      occupied = true
      return {
        db,
        leave() {
          occupied = false
          if (isMemory ? closed : closed || db.inTransaction) {
            closeQuietly(db)
            second = undefined
          }
          patience.news.ended()
        },
      }
    },
    idle: () => (isMemory && occupied ? undefined : main),
    checkOpen,
    close() {
      if (closed) return
      closed = true
      if (main && !(isMemory && occupied)) closeQuietly(main)
      if (second && !occupied) closeQuietly(second)
      main = undefined
    },
  }
}

function begun(db: SqliteConnection): SqliteConnection {
  db.exec('begin immediate')
  return db
}

function closeQuietly(db: SqliteConnection): void {
  try {
    db.close()
  } catch {
    // What matters has been committed; the operating system takes the rest back.
  }
}
