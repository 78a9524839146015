import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { type Client, clientOn } from '../../src/client/client.ts'
import { defineTask } from '../../src/core/task.ts'
import type { WorkerOptions } from '../../src/worker/options.ts'
import { afterwards, freshFile, storeOn, type UserDb, userDb } from '../sqlite/place.ts'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))

/** Completes its job together with its effect. */
export const work = defineTask('work')
/** Completes its job by returning. */
export const plain = defineTask('plain')

/** Time for tests with processes, on a busy machine. */
export const TIME: { readonly timeout: number } = { timeout: 120_000 }

/** What a worker process has printed. */
export interface Line {
  readonly what: 'up' | 'started' | 'completed' | 'aborted' | 'refused' | 'lost' | 'unavailable' | 'available' | 'unhandled' | 'warning'
  readonly id?: string
  readonly code?: string
  readonly message?: string
}

/** What a worker process is started with, in place of a lease of 1 s, a pulse and a poll of 100 ms and a prefetch of 8. */
export type ProcessOptions = Pick<WorkerOptions, 'lease' | 'poll' | 'pulse' | 'queues'>

/** Whom a process runs as, if not as the test, and options of Node for it. */
export interface Setting extends Pick<SpawnOptions, 'uid' | 'gid'> {
  readonly nodeOptions?: readonly string[]
}

/** A worker process. */
export interface WorkerProcess {
  readonly child: ChildProcess
  readonly lines: readonly Line[]
  count(what: Line['what']): number
  /** Asks it to end, and resolves with its exit code when all its lines have been read. */
  end(): Promise<number | null>
}

/** A database that worker processes share. */
export interface Place {
  readonly file: string
  readonly jobs: Client
  readonly db: UserDb
  /** The effects that were committed, by job id. */
  effects(): readonly string[]
  /** How often each job was put among the completed ones, by the count of the database itself: one id for each time. */
  finishes(): readonly string[]
  worker(mode: 'works' | 'waits', options?: ProcessOptions, setting?: Setting): WorkerProcess
}

/** Makes a database with an empty table of effects. */
export async function createPlace(file: string = freshFile()): Promise<Place> {
  const jobs = clientOn({ store: storeOn(file), logger: false })
  await jobs.migrate()
  const db = userDb(file)
  db.exec('create table effects (job text not null, pid integer not null)')
  db.exec(`create table finishes (job text not null);
    create trigger finished after insert on triphammer_history begin insert into finishes values (new.id); end`)
  const column = (table: string): string[] =>
    db
      .prepare(`select job from ${table} order by job`)
      .all()
      .map(({ job }) => String(job))
  return {
    file,
    jobs,
    db,
    effects: () => column('effects'),
    finishes: () => column('finishes'),
    worker: (mode, options = {}, setting = {}) => startWorker(file, mode, options, setting),
  }
}

/** Starts a worker process on a file. */
export function startWorker(file: string, mode: 'works' | 'waits', options: ProcessOptions, setting: Setting): WorkerProcess {
  const { nodeOptions = [], ...identity } = setting
  const args = ['--unhandled-rejections=strict', ...nodeOptions, WORKER, file, mode, JSON.stringify(options)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], ...identity })
  afterwards(() => child.kill('SIGKILL'))
  const lines: Line[] = []
  const output = createInterface({ input: child.stdout }).on('line', (line) => void lines.push(JSON.parse(line) as Line))
  const isRead = once(output, 'close')
  return {
    child,
    lines,
    count: (what) => lines.filter((line) => line.what === what).length,
    async end() {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      const [code] = (await closed) as [number | null]
      await isRead
      return code
    },
  }
}

/** Waits for what other processes do. */
export async function until(condition: () => unknown, timeout = 60_000): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await condition())) throw new Error(`not yet: ${String(condition)}`)
    },
    { timeout, interval: 20 },
  )
}
