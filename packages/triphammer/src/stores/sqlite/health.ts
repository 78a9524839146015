import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Clock, sleep } from '../../core/clock.ts'
import type { SqliteConnection, SqliteRow } from '../../sql/sqlite-connection.ts'
import type { Finding } from '../../store/health.ts'
import type { Database } from './database.ts'
import type { Settings } from './options.ts'

const MIB = 1_048_576
/** Below this the next backlog may fill the disk … */
const LOW_DISK_BYTES = 1_024 * MIB
/** … and below this the next hour may. */
const NO_DISK_BYTES = 100 * MIB
/** A file that is smaller does not need to give space back. */
const SMALL_BYTES = 100 * MIB
/** Between two looks at the log: a reader that is there both times stays for longer. */
const READER_MS = 1_000

/** What there is to look at. */
export interface HealthOptions {
  readonly database: Database
  readonly settings: Settings
  readonly deep: boolean
}

/** Looks at the file, its log and its disk. A database in memory has none of them. */
export async function checkHealth({ database, settings, deep }: HealthOptions): Promise<readonly Finding[]> {
  const { file, isMemory, walLimitBytes, clock } = settings
  const size = await database.bare(sizeFinding)
  const damage = deep ? [await database.bare(damageFinding)] : []
  if (isMemory) return [size, ...damage]
  return [accessFinding(file), diskFinding(file), size, logFinding(file, walLimitBytes), await readerFinding(database, clock), ...damage]
}

function accessFinding(file: string): Finding {
  const check = 'access'
  const barred = [file, dirname(file)].find((path) => !mayWrite(path))
  if (barred === undefined) return { check, level: 'ok', message: `${file} and its folder may be written` }
  return { check, level: 'problem', message: `${barred} may not be written by this user`, advice: 'correct its owner or its permissions' }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function diskFinding(file: string): Finding {
  const check = 'disk'
  const { bavail, bsize } = statfsSync(dirname(file))
  const free = bavail * bsize
  const message = `${bytes(free)} free`
  if (free >= LOW_DISK_BYTES) return { check, level: 'ok', message }
  const level = free < NO_DISK_BYTES ? 'problem' : 'warning'
  return { check, level, message, advice: 'make room: when the disk is full nothing can be enqueued or finished' }
}

function sizeFinding(db: SqliteConnection): Finding {
  const check = 'size'
  const [pages, free, pageBytes] = ['page_count', 'freelist_count', 'page_size'].map((name) => Number(db.get(`pragma ${name}`)?.[name]))
  const [size, unused] = [pages! * pageBytes!, free! * pageBytes!]
  const message = `${bytes(size)}, ${bytes(unused)} of it unused`
  if (size < SMALL_BYTES || unused < size / 2) return { check, level: 'ok', message }
  return {
    check,
    level: 'warning',
    message,
    advice: 'it is used again by later jobs; `vacuum`, with no worker running, gives it back to the disk',
  }
}

function logFinding(file: string, limitBytes: number): Finding {
  const check = 'log'
  const size = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const message = `the write-ahead log has ${bytes(size)}, of ${bytes(limitBytes)} at which it is cut`
  if (size <= limitBytes) return { check, level: 'ok', message }
  return { check, level: 'warning', message, advice: 'a worker cuts it when no reader stands in the way; if none is running, start one' }
}

// A passive checkpoint writes the log back as far as no reader needs it and waits for nobody. The log may start over in between.
async function readerFinding(database: Database, clock: Clock): Promise<Finding> {
  const check = 'readers'
  const before = await database.bare(checkpoint)
  if (before.written < before.logged) await sleep(clock, READER_MS)
  const after = before.written < before.logged ? await database.bare(checkpoint) : before
  const isHeld = after.logged >= before.logged && after.written < before.logged
  if (!isHeld) return { check, level: 'ok', message: 'none keeps the log from being written back' }
  const message = `a reader of more than ${READER_MS / 1_000} s keeps ${before.logged - after.written} pages of the log from being written back`
  return {
    check,
    level: 'warning',
    message,
    advice: 'end the read transaction that is open: the log grows, and reading slows down, until then',
  }
}

function checkpoint(db: SqliteConnection): { readonly logged: number; readonly written: number } {
  const row: SqliteRow = db.get('pragma wal_checkpoint(passive)') ?? {}
  return { logged: Number(row['log'] ?? 0), written: Number(row['checkpointed'] ?? 0) }
}

function damageFinding(db: SqliteConnection): Finding {
  const check = 'damage'
  const found = String(db.get('pragma quick_check(1)')?.['quick_check'])
  if (found === 'ok') return { check, level: 'ok', message: 'the whole database was read, and none was found' }
  const advice = 'stop all processes, then restore a backup, or save what is readable with the `.recover` command of the sqlite3 shell'
  return { check, level: 'problem', message: `the database is damaged: ${found}`, advice }
}

function bytes(count: number): string {
  if (count < MIB) return `${Math.round(count / 1_024)} KiB`
  return count < 1_024 * MIB ? `${Math.round(count / MIB)} MiB` : `${(count / 1_024 / MIB).toFixed(1)} GiB`
}
