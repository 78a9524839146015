import { isTriphammerError, TriphammerError } from '../core/errors.ts'

/** SQLite's primary result codes that mean something to us, by the names better-sqlite3 gives them. */
const CODES: Readonly<Record<string, number>> = {
  SQLITE_ERROR: 1,
  SQLITE_PERM: 3,
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_NOMEM: 7,
  SQLITE_READONLY: 8,
  SQLITE_INTERRUPT: 9,
  SQLITE_IOERR: 10,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_PROTOCOL: 15,
  SQLITE_TOOBIG: 18,
  SQLITE_CONSTRAINT: 19,
  SQLITE_MISMATCH: 20,
  SQLITE_MISUSE: 21,
  SQLITE_AUTH: 23,
  SQLITE_RANGE: 25,
  SQLITE_NOTADB: 26,
}

const WAY_OUT: Readonly<Record<number, string>> = {
  3: 'access is denied; check the permissions of the file and its folder',
  7: 'there is not enough memory',
  8: 'it cannot be written; check the permissions of the file and its folder',
  10: 'the disk or the file system reports an error',
  11: 'the file is damaged; restore it from a backup, or save what is readable with the `.recover` command of the sqlite3 shell',
  13: 'the disk is full; free some space, nothing was written',
  14: 'it cannot be opened; check that its folder exists and that both may be read and written',
  23: 'access is denied',
}

/**
 * What a driver threw, as the error of this library that callers act on. Anything that is not an error of SQLite stays as
 * it is.
 *
 * @param file the database, for the message
 */
export function classifySqliteError(error: unknown, file: string): unknown {
  const code = isTriphammerError(error) ? undefined : resultCode(error)
  if (code === undefined) return error
  const message = (error as Error).message
  const refuse = (...[kind, text]: ConstructorParameters<typeof TriphammerError>): TriphammerError =>
    new TriphammerError(kind, text, { cause: error })
  const refused = (): TriphammerError =>
    refuse('STORE_REFUSED', `${file}: SQLite refused a statement of the store, and no waiting mends that (${message})`)
  switch (code) {
    case CODES['SQLITE_BUSY']:
    case CODES['SQLITE_LOCKED']:
    case CODES['SQLITE_PROTOCOL']:
      return refuse('STORE_BUSY', `${file} is locked by another transaction (${message}); keep transactions short and try again`)
    case CODES['SQLITE_NOTADB']:
      return refuse(
        'NOT_A_DATABASE',
        `${file} is not a SQLite database, or it is encrypted; give the path of a database or of a file that does not exist yet`,
      )
    case CODES['SQLITE_ERROR']:
      if (/no such (table|column|index): (main\.)?triphammer_/.test(message)) return schemaMissing(file, error)
      return refused()
    case CODES['SQLITE_TOOBIG']:
    case CODES['SQLITE_CONSTRAINT']:
    case CODES['SQLITE_MISMATCH']:
    case CODES['SQLITE_MISUSE']:
    case CODES['SQLITE_RANGE']:
      return refused()
  }
  return refuse('STORE_UNAVAILABLE', `${file}: ${WAY_OUT[code] ?? 'SQLite cannot go on'} (${message})`)
}

/** The error of a database that lacks our tables or is behind with them. */
export function schemaMissing(file: string, cause?: unknown): TriphammerError {
  return new TriphammerError(
    'SCHEMA_MISSING',
    `${file} does not have the tables of this version; await migrate() of a client, or run \`triphammer migrate\``,
    { cause },
  )
}

/** The primary result code of SQLite in whatever a driver threw; `undefined` when there is none. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode, rawCode, code } = error as { errcode?: unknown; rawCode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff // node:sqlite
  if (typeof rawCode === 'number') return rawCode & 0xff // libsql
  const failed = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(error.message) // libsql, while opening
  if (failed) return Number(failed[1]) & 0xff
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return undefined
  const [name] = /^SQLITE_[A-Z]+/.exec(code) ?? [] // SQLITE_BUSY_SNAPSHOT is a kind of SQLITE_BUSY
  return CODES[name ?? ''] ?? CODES['SQLITE_ERROR']
}
