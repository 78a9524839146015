import { readFileSync, statfsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os'
import { dirname, join } from 'node:path'
import { createBare } from './bare.ts'
import { type Db, DRIVER, openDb, single } from './driver.ts'
import { withFile } from './folder.ts'
import { openClient } from './library.ts'

/** What the figures depend on. */
export interface Conditions {
  /** ISO 8601. */
  readonly takenAt: string
  readonly node: string
  /** With its version where it is a package. */
  readonly driver: string
  readonly sqlite: string
  readonly cores: number
  readonly cpu: string
  readonly memoryBytes: number
  readonly system: string
  /** Of the folder of temporary files, where the databases are. */
  readonly fileSystem: string
  readonly journal: string
  readonly synchronous: string
}

/**
 * Reads the conditions. What SQLite says of its settings is asked of a connection of the library's own.
 *
 * @throws Error the bare loop has other settings than the library, so that they could not be compared
 */
export async function readConditions(): Promise<Conditions> {
  const ours = await librarySettings()
  const theirs = await withFile(async (file) => {
    const db = createBare(file)
    const settings = settingsOf(db)
    db.close()
    return settings
  })
  if (ours.join() !== theirs.join()) throw new Error(`the library has ${ours.join(', ')} and the bare loop ${theirs.join(', ')}`)
  const [journal, synchronous] = ours
  return {
    takenAt: new Date().toISOString(),
    node: process.version,
    driver: DRIVER === 'libsql' ? `libsql ${libsqlVersion()}` : DRIVER,
    sqlite: sqliteVersion(),
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    fileSystem: fileSystem(),
    journal,
    synchronous,
  }
}

/** Of the last minute. */
export function load(): number {
  return loadavg()[0]!
}

type Settings = readonly [journal: string, synchronous: string]

function librarySettings(): Promise<Settings> {
  return withFile(async (file) => {
    const jobs = await openClient(file)
    const settings = await jobs.transaction(async ({ db }) => settingsOf(db as Db))
    await jobs.close()
    return settings
  })
}

const SYNCHRONOUS = ['off', 'normal', 'full', 'extra']

function settingsOf(db: Db): Settings {
  return [String(single(db, 'pragma journal_mode')), SYNCHRONOUS[Number(single(db, 'pragma synchronous'))] ?? 'unknown']
}

function sqliteVersion(): string {
  const db = openDb(':memory:')
  const version = String(single(db, 'select sqlite_version()'))
  db.close()
  return version
}

// Its package.json is not among what it exports; its entry stands beside it.
function libsqlVersion(): string {
  const entry = createRequire(import.meta.url).resolve('libsql')
  return (JSON.parse(readFileSync(join(dirname(entry), 'package.json'), 'utf8')) as { readonly version: string }).version
}

// The magic numbers of statfs(2); another file system is shown by its number.
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  2435016766: 'btrfs',
  1481003842: 'xfs',
  2035054128: 'overlay',
  801189825: 'zfs',
  26985: 'nfs',
}

function fileSystem(): string {
  const { type: magic } = statfsSync(tmpdir())
  return FILE_SYSTEMS[magic] ?? `0x${magic.toString(16)}`
}
