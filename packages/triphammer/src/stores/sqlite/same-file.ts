import { statSync } from 'node:fs'
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
   * What a connection that is about to be opened has to pass before anything is written through it; absent where the path
   * has the file that was the first to be open, or none was yet.
   *
   * @throws TriphammerError `STORE_UNAVAILABLE`: a file was open before, and nothing stands at its path
   */
  admission(): ((db: SqliteConnection) => void) | undefined
}

/** Makes a {@link SameFile}. A database in memory is always the same. */
export function createSameFile({ file, isMemory }: Settings): SameFile {
  if (isMemory) return { note() {}, check() {}, admission: () => undefined }
  const identities = new WeakMap<SqliteConnection, string>()
  let first: string | undefined

  return {
    note(db) {
      const identity = identityOf(file)
      if (identity === undefined) throw gone(file)
      identities.set(db, identity)
      first ??= identity
    },
    check(db) {
      const identity = identityOf(file)
      if (identity === identities.get(db) || identity === HIDDEN) return
      throw identity === undefined ? gone(file) : replaced(file)
    },
    admission() {
      if (first === undefined) return undefined
      const identity = identityOf(file)
      if (identity === first || identity === HIDDEN) return undefined
      if (identity === undefined || isEmpty(file)) throw gone(file)
      return (db) => {
        if (readStatus(db).applied.length === 0) throw strange(file)
      }
    },
  }
}

/** A folder that may not be looked into any more: nobody else can put another file there either. */
const HIDDEN = 'hidden'

// The number of a file is given to no other as long as somebody has it open. Never by opening it: closing any handle of this
// process would let go of SQLite's locks.
function identityOf(file: string): string | undefined {
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats && `${stats.dev}:${stats.ino}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? HIDDEN : undefined
  }
}

function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0
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
