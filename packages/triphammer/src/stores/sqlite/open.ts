import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { TriphammerError } from '../../core/errors.ts'
import { connectionOn, type SqliteConnection } from '../../sql/sqlite-connection.ts'
import type { SqliteDriver } from '../../sql/sqlite-drivers.ts'
import { classifySqliteError } from '../../sql/sqlite-errors.ts'
import { handleOn } from '../../sql/sqlite-handles.ts'
import type { Settings } from './options.ts'
import type { SameFile } from './same-file.ts'

/**
 * Opens a connection of our own.
 *
 * @throws TriphammerError `STORE_BUSY`, `STORE_UNAVAILABLE`, `NOT_A_DATABASE`
 */
export function openConnection(driver: SqliteDriver, { file, isMemory, synchronous }: Settings, sameFile: SameFile): SqliteConnection {
  const admit = sameFile.admission()
  if (!isMemory) makeFolder(file)
  const db = connectionOn(handleOn(driver.name, open(driver, file)), (error) => classifySqliteError(error, file))
  try {
    // Waiting for a lock is done by timers: SQLite would block the event loop.
    db.get('pragma busy_timeout = 0')
    admit?.(db)
    if (!isMemory) useWal(db, file)
    db.exec(`pragma synchronous = ${synchronous}`)
    sameFile.note(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function makeFolder(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
  } catch (cause) {
    throw new TriphammerError('STORE_UNAVAILABLE', `the folder of ${file} cannot be made: ${(cause as Error).message}`, { cause })
  }
}

function open({ sqliteClass }: SqliteDriver, file: string): object {
  try {
    return new sqliteClass(file)
  } catch (error) {
    throw classifySqliteError(error, file)
  }
}

// Readers do not wait for the writer only with a write-ahead log; the mode stays with the file.
function useWal(db: SqliteConnection, file: string): void {
  const mode = db.get('pragma journal_mode = wal')?.['journal_mode']
  if (mode === 'wal') return
  throw new TriphammerError(
    'STORE_UNAVAILABLE',
    `${file} cannot have a write-ahead log (its journal mode stays ${String(mode)}): it must be writable and on a local file system`,
  )
}
