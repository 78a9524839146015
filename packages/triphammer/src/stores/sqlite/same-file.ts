import { type Stats, statSync } from 'node:fs'
import { TriphammerError } from '../../core/errors.ts'
import type { SqliteConnection } from '../../sql/sqlite-connection.ts'
import type { Settings } from './options.ts'
import { readStatus } from './schema.ts'

/**
 * Knows which file each connection is to. A file that was removed lives on for those who have it open: a store that did not
 * look would go on working, and acknowledge jobs that no other process will ever see (docs/adr/sqlite-file-removed.md).
 */
export interface SameFile {
  /** Notes what stands at the path now as the file of this connection. @throws TriphammerError `STORE_UNAVAILABLE`: nothing does */
  note(db: SqliteConnection): void
  /** @throws TriphammerError `STORE_UNAVAILABLE`: what stands at the path is not the file of this connection */
  check(db: SqliteConnection): void
  /**
   * What a connection that is about to be opened has to pass before anything is written through it; absent where no file was
   * open before, or where it has been at its path all the time.
   *
   * @throws TriphammerError `STORE_UNAVAILABLE`: a file was open before, and nothing, or an empty file, stands at its path
   */
  admission(): ((db: SqliteConnection) => void) | undefined
}

/** Makes a {@link SameFile}. A database in memory is always the same. */
export function createSameFile({ file, isMemory }: Settings): SameFile {
  if (isMemory) return { note() {}, check() {}, admission: () => undefined }
  const identities = new WeakMap<SqliteConnection, string>()
  let known: string | undefined
  // From then on the identity proves nothing: once the last handle is closed, its number may be given to another file.
  let isLost = false

  return {
    note(db) {
      const identity = identityOf(file)
      if (identity === undefined) throw gone(file)
      identities.set(db, identity)
      known ??= identity
    },
    check(db) {
      const identity = identityOf(file)
      if (identity === identities.get(db) || identity === HIDDEN) return
      isLost = true
      throw identity === undefined ? gone(file) : replaced(file)
    },
    admission() {
      if (known === undefined) return undefined
      const identity = identityOf(file)
      if (!isLost && (identity === known || identity === HIDDEN)) return undefined
      isLost = true
      if (identity === undefined || isEmpty(file)) throw gone(file)
      return (db) => {
        if (readStatus(db).applied.length === 0) throw strange(file)
        isLost = false
        known = identity
      }
    },
  }
}

/** A folder that may not be looked into any more: nobody else can put another file there either. */
const HIDDEN = 'hidden'

// Never by opening it: closing any handle of this process would let go of SQLite's locks.
function look(file: string): Stats | undefined | typeof HIDDEN {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? HIDDEN : undefined
  }
}

function identityOf(file: string): string | undefined {
  const found = look(file)
  return typeof found === 'object' ? `${found.dev}:${found.ino}` : found
}

// SQLite deletes the log that lies beside an empty file, and with it what a file that is still to be put back had written.
function isEmpty(file: string): boolean {
  const found = look(file)
  return typeof found === 'object' && found.size === 0
}

function gone(file: string): TriphammerError {
  return unavailable(
    `${file} was removed while it was open, and nothing is written any more; put it back, or start the process again to begin with an empty one`,
  )
}

function replaced(file: string): TriphammerError {
  return unavailable(
    `${file} was replaced by another file while it was open; nothing more is written to the old one, the next call looks at the new`,
  )
}

function strange(file: string): TriphammerError {
  return unavailable(
    `${file} was replaced while it was open, and what stands there now has no tables of triphammer; they are not made in place of those that were lost: start the process again, or run \`triphammer migrate\``,
  )
}

function unavailable(message: string): TriphammerError {
  return new TriphammerError('STORE_UNAVAILABLE', message)
}
