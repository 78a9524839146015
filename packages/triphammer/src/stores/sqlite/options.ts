import { resolve } from 'node:path'
import { type Clock, systemClock } from '../../core/clock.ts'
import { TriphammerError } from '../../core/errors.ts'
import { createIds, type Ids } from '../../core/ids.ts'
import { checkInteger, checkOptions } from '../../core/options.ts'
import type { SqliteDriverName } from '../../sql/sqlite-connection.ts'
import { SQLITE_DRIVERS } from '../../sql/sqlite-drivers.ts'

/** Options of {@link sqlite}. */
export interface SqliteOptions {
  /**
   * What a power failure may undo. `full` (default): what was acknowledged survives a power failure. `normal`: it survives a crash of the process, while a
   * power failure may undo the last transactions; jobs then run again.
   */
  readonly synchronous?: 'full' | 'normal'
  /**
   * Whether the tables are created and brought up to date when the store opens (default true). With false a store without
   * them refuses with `SCHEMA_MISSING`.
   */
  readonly migrate?: boolean
  /** The store's clock, which all delays and leases go by. Default: the machine's. */
  readonly clock?: Clock
  /** Ids for tests. Default: random, by the store's clock. */
  readonly ids?: Ids
  /**
   * The driver. Default: `node:sqlite` where Node has it (22.13), else libsql, else better-sqlite3; or that of the first connection whose
   * transaction is used, if the store has not been used before. Name the driver of your application when it is another than
   * `node:sqlite`: connections of any other are refused (`TX_UNSUPPORTED`), since two copies of SQLite in one process lose writes.
   */
  readonly driver?: SqliteDriverName
  /** Maintenance truncates a write-ahead log that is larger, in bytes (default 64 MiB). */
  readonly walLimitBytes?: number
}

/** Checked options, complete. */
export interface Settings {
  /** The absolute path, or `:memory:`. */
  readonly file: string
  readonly isMemory: boolean
  readonly synchronous: 'full' | 'normal'
  readonly migrate: boolean
  readonly clock: Clock
  readonly clockIsInjected: boolean
  readonly ids: Ids
  readonly driver: SqliteDriverName | undefined
  readonly walLimitBytes: number
}

const MEMORY = ':memory:'
const WAL_LIMIT_BYTES = 64 * 1024 * 1024

/** @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION` */
export function parseSqliteOptions(file: string, options: SqliteOptions): Settings {
  checkOptions(options, ['synchronous', 'migrate', 'clock', 'ids', 'driver', 'walLimitBytes'], 'sqlite')
  checkFile(file)
  const { synchronous = 'full', migrate = true, clock = systemClock, driver, walLimitBytes = WAL_LIMIT_BYTES } = options
  oneOf('synchronous', synchronous, ['full', 'normal'])
  oneOf('migrate', migrate, [true, false])
  if (driver !== undefined) oneOf('driver', driver, SQLITE_DRIVERS)
  return {
    file: file === MEMORY ? file : resolve(file),
    isMemory: file === MEMORY,
    synchronous,
    migrate,
    clock,
    clockIsInjected: options.clock !== undefined,
    ids: options.ids ?? createIds(clock),
    driver,
    walLimitBytes: checkInteger(walLimitBytes, 'sqlite: walLimitBytes', 1),
  }
}

function checkFile(file: unknown): void {
  if (typeof file === 'string' && file !== '' && !file.startsWith('file:') && !file.includes('\u0000')) return
  throw new TriphammerError(
    'INVALID_OPTION',
    `sqlite: give the path of a file such as 'jobs.db', or ':memory:'; not ${JSON.stringify(file) ?? String(file)}`,
  )
}

function oneOf(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return
  throw new TriphammerError('INVALID_OPTION', `sqlite: ${name}: ${String(value)} is not one of ${allowed.join(', ')}`)
}
