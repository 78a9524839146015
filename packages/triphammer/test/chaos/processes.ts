import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { type Client, clientOn } from '../../src/client/client.ts'
import { defineTask } from '../../src/core/task.ts'
import { afterwards, freshFile, storeOn, type UserDb, userDb } from '../sqlite/place.ts'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))

export const work = defineTask('work')

/** What a worker process has printed. */
export interface Line {
  readonly what: 'up' | 'started' | 'aborted' | 'refused' | 'lost' | 'unhandled' | 'warning'
  readonly id?: string
  readonly code?: string
}

/** A worker process. */
export interface WorkerProcess {
  readonly child: ChildProcess
  readonly lines: readonly Line[]
  count(what: Line['what']): number
  /** Asks it to end, and resolves with its exit code. */
  end(): Promise<number | null>
}

/** A database that worker processes share. */
export interface Place {
  readonly file: string
  readonly jobs: Client
  readonly db: UserDb
  worker(mode: 'works' | 'waits'): WorkerProcess
}

/** Makes a database with an empty table of effects. */
export async function createPlace(): Promise<Place> {
  const file = freshFile()
  const jobs = clientOn({ store: storeOn(file), logger: false })
  await jobs.migrate()
  const db = userDb(file)
  db.exec('create table effects (job text not null, pid integer not null)')
  return { file, jobs, db, worker: (mode) => startWorker(file, mode) }
}

function startWorker(file: string, mode: string): WorkerProcess {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', WORKER, file, mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  afterwards(() => child.kill('SIGKILL'))
  const lines: Line[] = []
  createInterface({ input: child.stdout }).on('line', (line) => void lines.push(JSON.parse(line) as Line))
  return {
    child,
    lines,
    count: (what) => lines.filter((line) => line.what === what).length,
    async end() {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      const [code] = (await closed) as [number | null]
      return code
    },
  }
}

/** Waits for what other processes do. */
export async function until(condition: () => unknown): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await condition())) throw new Error(`not yet: ${String(condition)}`)
    },
    { timeout: 25_000, interval: 20 },
  )
}
