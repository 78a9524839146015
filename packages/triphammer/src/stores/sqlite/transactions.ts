import { AsyncLocalStorage } from 'node:async_hooks'
import { realpathSync } from 'node:fs'
import { TriphammerError } from '../../core/errors.ts'
import { connectionOn, type SqliteConnection } from '../../sql/sqlite-connection.ts'
import { classifySqliteError } from '../../sql/sqlite-errors.ts'
import { handleOn, recognise } from '../../sql/sqlite-handles.ts'
import type { StoreTx } from '../../store/store.ts'
import type { Database } from './database.ts'
import type { Settings } from './options.ts'
import { text } from './rows.ts'
import type { SameFile } from './same-file.ts'
import type { SchemaKeeper } from './schema.ts'
import { rollBack, wholly } from './transact.ts'
import type { Write } from './write.ts'

/** Transactions that are not one verb long: those of the user's own connections and those that the store opens. */
export interface Transactions {
  /** @throws TriphammerError `TX_UNSUPPORTED`, `TX_NOT_OPEN` */
  adopt(foreign: unknown): StoreTx
  /** Writes within a transaction, at once. @throws TriphammerError `TX_UNSUPPORTED`, `TX_NOT_OPEN` */
  within<T>(tx: StoreTx, work: (write: Write) => T): T
  run<T>(fn: (tx: StoreTx) => Promise<T>): Promise<T>
}

interface Transaction {
  readonly db: SqliteConnection
  /** Queues that got work; told when the store itself commits. The user's commit shows in the file. */
  readonly woken: Set<string>
  ended: boolean
}

/** What {@link createTransactions} works with. */
export interface TransactionParts {
  readonly settings: Settings
  readonly database: Database
  readonly schema: SchemaKeeper
  readonly sameFile: SameFile
  committed(queues: ReadonlySet<string>): void
}

/** Makes the {@link Transactions} of a store. */
export function createTransactions({ settings, database, schema, sameFile, committed }: TransactionParts): Transactions {
  const transactions = new WeakMap<StoreTx, Transaction>()
  // The user's connections that were found to be to our database, with their prepared statements.
  const adopted = new WeakMap<object, SqliteConnection>()
  let own: { readonly tx: StoreTx; readonly db: object } | undefined
  let last: Promise<unknown> = Promise.resolve()
  const inside = new AsyncLocalStorage<Transaction>()

  const begin = (db: SqliteConnection): StoreTx => {
    const tx: StoreTx = { db: db.db }
    transactions.set(tx, { db, woken: new Set(), ended: false })
    return tx
  }
  const lookUp = (tx: StoreTx): Transaction => {
    const transaction = transactions.get(tx)
    if (!transaction)
      throw new TriphammerError('TX_UNSUPPORTED', 'this is not a transaction of this store; use what its adopt() or transaction() gave')
    if (transaction.ended || !transaction.db.inTransaction) throw notOpen()
    return transaction
  }
  const connectionOf = (foreign: object): SqliteConnection => {
    const known = adopted.get(foreign)
    if (known) return known
    const found = recognise(foreign)
    if (!found) throw unsupported('this is not a connection of node:sqlite, libsql or better-sqlite3')
    const connection = connectionOn(handleOn(found.driver, foreign), (error) => classifySqliteError(error, settings.file))
    if (!connection.inTransaction) throw notOpen() // a closed connection could not even be asked for its file
    sameFile.note(connection)
    checkSameFile(connection, settings)
    database.preferDriver({ name: found.driver, sqliteClass: found.sqliteClass })
    checkSameLibrary(found, database)
    adopted.set(foreign, connection)
    return connection
  }
  const finish = (tx: StoreTx): void => {
    const { db, woken } = lookUp(tx)
    database.checkOpen()
    db.exec('commit')
    sameFile.check(db)
    if (woken.size > 0) committed(woken)
  }
  const runAlone = async <T>(fn: (tx: StoreTx) => Promise<T>): Promise<T> => {
    const { db, leave } = await database.enter()
    const tx = begin(db)
    own = { tx, db: db.db }
    try {
      const value = await inside.run(transactions.get(tx)!, () => fn(tx))
      finish(tx)
      return value
    } finally {
      rollBack(db)
      transactions.get(tx)!.ended = true
      own = undefined
      leave()
    }
  }

  return {
    adopt(foreign) {
      if (typeof foreign !== 'object' || foreign === null) throw unsupported('this is not a connection')
      if (transactions.has(foreign as StoreTx)) {
        lookUp(foreign as StoreTx)
        return foreign as StoreTx
      }
      if (own && foreign === own.db) return own.tx
      const connection = connectionOf(foreign)
      if (!connection.inTransaction) throw notOpen()
      return begin(connection)
    },
    within(tx, work) {
      database.checkOpen()
      const { db, woken } = lookUp(tx)
      sameFile.check(db)
      const now = settings.clock.now()
      schema.ensure(db, now)
      return wholly(db, () => work({ db, now, wake: (queue) => void woken.add(queue) }))
    },
    async run(fn) {
      if (inside.getStore()?.ended === false) throw nested()
      const turn = last.then(() => runAlone(fn))
      last = turn.catch(() => {})
      return turn
    },
  }
}

function checkSameFile(connection: SqliteConnection, { file, isMemory }: Settings): void {
  if (isMemory) throw unsupported('a database in memory belongs to the connection of its store alone; use the transaction() of the store')
  const main = connection.all('pragma database_list').find((row) => row['name'] === 'main')
  const theirs = main ? text(main, 'file') : ''
  if (theirs !== '' && realPath(theirs) === realPath(file)) return
  throw unsupported(`the connection is to ${theirs === '' ? 'a database without a file' : theirs}, the store's database is ${file}`)
}

// Two copies of SQLite in one process do not see each other's locks on a file: both got the write lock, and one's commit was
// gone (measured with node:sqlite and libsql).
function checkSameLibrary(found: NonNullable<ReturnType<typeof recognise>>, { driver }: Database): void {
  if (!driver || driver.sqliteClass === found.sqliteClass) return
  const [whose, wayOut] =
    driver.name === found.driver
      ? [`another copy of ${found.driver}`, `have one copy of ${found.driver} installed (npm dedupe)`]
      : [found.driver, `open the store with { driver: '${found.driver}' }`]
  throw unsupported(
    `the connection is of ${whose}, the store uses ${driver.name}, and two copies of SQLite in one process lose writes; ${wayOut}`,
  )
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}

function unsupported(what: string): TriphammerError {
  return new TriphammerError('TX_UNSUPPORTED', `the transaction cannot be used: ${what}`)
}

// It would wait for the one around it, which waits for it.
function nested(): TriphammerError {
  return new TriphammerError('STORE_BUSY', 'a transaction of this store is open around this one; pass its tx on instead of opening another')
}

function notOpen(): TriphammerError {
  return new TriphammerError(
    'TX_NOT_OPEN',
    'no transaction is open on the connection: begin one first, and do everything that belongs to it before it ends (with a synchronous driver, use enqueueSync)',
  )
}
