// First figures of the SQLite store, each beside a bare loop over the same driver, file system and pragmas in the same run: on a
// machine that others use as well, only what was measured together can be compared.
//
//   npx tsc -b bench && node bench/dist/sqlite.js

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, createClient, defineTask } from 'triphammer'
import { sqlite } from 'triphammer/sqlite'
import { createWorker, handle, type Worker } from 'triphammer/worker'

const JOBS = 10_000
const SINGLE_JOBS = 500
const WAL_JOBS = 2_000
const BATCH = 100
const ROUNDS = 3
const IDLE_MS = 10_000
const WAKE_UPS = 40
const WAKE_UP_EVERY_MS = 150

/** A small payload: 45 bytes as JSON. */
const payload = { user: 4711, mail: 'ada@example.org', n: 12 } as const
const work = defineTask<typeof payload>('work')
const stamped = defineTask<{ readonly sentAt: number }>('stamped')

/** The parts that node:sqlite and libsql have in common. */
interface Db {
  exec(sql: string): unknown
  prepare(sql: string): { run(...parameters: unknown[]): unknown; all(...parameters: unknown[]): Record<string, unknown>[] }
  close(): unknown
}
type DbClass = new (file: string) => Db

const builtin = process.getBuiltinModule('node:sqlite') as unknown as { readonly DatabaseSync: DbClass } | undefined
const [driver, DriverDb]: [string, DbClass] = builtin
  ? ['node:sqlite', builtin.DatabaseSync]
  : ['libsql', createRequire(import.meta.url)('libsql') as DbClass]

/** How fast something was, for each job of it. */
interface Figure {
  readonly perSecond: number
  readonly cpuMicros: number
}

async function measure(jobs: number, act: () => unknown): Promise<Figure> {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  await act()
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: (jobs * 1_000) / (performance.now() - startedAt), cpuMicros: (user + system) / jobs }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

async function inFolder<T>(act: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-bench-'))
  try {
    return await act(join(folder, 'jobs.db'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

// ── the library ───────────────────────────────────────────────────────────────────────────────────────────────────────

async function enqueueInBulk(jobs: Client, count: number, retain: false | undefined): Promise<void> {
  const payloads = Array.from({ length: 1_000 }, () => payload)
  for (let done = 0; done < count; done += payloads.length) {
    await jobs.enqueueMany(work, payloads, retain === false ? { retain } : {})
  }
}

async function enqueueSingly(jobs: Client): Promise<void> {
  for (let done = 0; done < SINGLE_JOBS; done++) await jobs.enqueue(work, payload)
}

function workerOn({ store }: Client): Worker {
  return createWorker({ store, handlers: [handle(work, () => {})], queues: { default: { concurrency: 50, prefetch: 200 } } })
}

// ── the bare loop: the least that a queue in SQLite has to write ──────────────────────────────────────────────────────

function openBare(file: string): Db {
  const db = new DriverDb(file)
  db.exec('pragma journal_mode = wal; pragma synchronous = full')
  db.exec(`create table job (id text not null, priority integer not null, run_at integer not null, token text, payload text not null) strict;
    create unique index job_id on job (id);
    create index job_claim on job (priority, run_at, id) where token is null;
    create table history (id text not null, payload text not null) strict;
    create unique index history_id on history (id)`)
  return db
}

function insertBare(db: Db, count: number, inOne: number): void {
  const insert = db.prepare('insert into job (id, priority, run_at, payload) values (?, 0, ?, ?)')
  for (let done = 0; done < count; done += inOne) {
    db.exec('begin immediate')
    for (let i = done; i < done + inOne; i++)
      insert.run(`${Date.now()}-${String(i).padStart(22, '0')}`, Date.now(), JSON.stringify(payload))
    db.exec('commit')
  }
}

function drainBare(db: Db, keep: boolean): void {
  const claim = db.prepare(`update job set token = ? where id in
    (select id from job where token is null and run_at <= ? order by priority, run_at, id limit ${BATCH}) returning id, payload`)
  const copy = db.prepare('insert into history select id, payload from job where id = ? and token = ?')
  const remove = db.prepare('delete from job where id = ? and token = ?')
  let claimed: Record<string, unknown>[] = []
  let token = ''
  do {
    db.exec('begin immediate')
    for (const { id } of claimed) {
      if (keep) copy.run(id, token)
      remove.run(id, token)
    }
    token = crypto.randomUUID()
    claimed = claim.all(token, Date.now())
    db.exec('commit')
    for (const row of claimed) JSON.parse(String(row['payload']))
  } while (claimed.length > 0)
}

// ── what is measured ──────────────────────────────────────────────────────────────────────────────────────────────────

const NAMES = ['enqueue, 1,000 in a call', 'enqueue, one in a call', 'drain, history kept', 'drain, retain: false'] as const

async function libraryRound(): Promise<Figure[]> {
  return inFolder(async (file) => {
    const jobs = createClient({ store: sqlite(file) })
    await jobs.migrate()
    const bulk = await measure(JOBS, () => enqueueInBulk(jobs, JOBS, undefined))
    const drained = await measure(JOBS, () => workerOn(jobs).runOnce())
    await enqueueInBulk(jobs, JOBS, false)
    const forgotten = await measure(JOBS, () => workerOn(jobs).runOnce())
    const single = await measure(SINGLE_JOBS, () => enqueueSingly(jobs))
    await jobs.close()
    return [bulk, single, drained, forgotten]
  })
}

async function bareRound(): Promise<Figure[]> {
  return inFolder(async (file) => {
    const db = openBare(file)
    const bulk = await measure(JOBS, () => insertBare(db, JOBS, 1_000))
    const drained = await measure(JOBS, () => drainBare(db, true))
    insertBare(db, JOBS, 1_000)
    const forgotten = await measure(JOBS, () => drainBare(db, false))
    const single = await measure(SINGLE_JOBS, () => insertBare(db, SINGLE_JOBS, 1))
    db.close()
    return [bulk, single, drained, forgotten]
  })
}

// A reader that stays keeps the log from starting over, so that its size tells all that was written.
async function walBytes(retain: false | undefined): Promise<{ readonly enqueued: number; readonly drained: number }> {
  return inFolder(async (file) => {
    const jobs = createClient({ store: sqlite(file) })
    await jobs.migrate()
    const reader = new DriverDb(file)
    reader.exec('begin')
    reader.prepare('select count(*) from triphammer_jobs').all()
    const size = (): number => statSync(`${file}-wal`).size
    const before = size()
    await enqueueInBulk(jobs, WAL_JOBS, retain)
    const between = size()
    await workerOn(jobs).runOnce()
    const after = size()
    reader.exec('commit')
    reader.close()
    await jobs.close()
    return { enqueued: (between - before) / WAL_JOBS, drained: (after - between) / WAL_JOBS }
  })
}

/** What a child says of itself after ten seconds without work. */
interface Idle {
  readonly cpuShare: number
  readonly rssBytes: number
}

async function child<T>(part: string, file: string, whenReady: () => Promise<void>): Promise<T[]> {
  const told: T[] = []
  const process = fork(fileURLToPath(import.meta.url), [part, file])
  await once(process, 'message')
  process.on('message', (message) => told.push(message as T))
  await whenReady()
  await once(process, 'exit')
  return told
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

async function idleWorker(): Promise<Idle> {
  return inFolder(async (file) => (await child<Idle>('idle', file, async () => {}))[0]!)
}

async function wakeUps(): Promise<number[]> {
  return inFolder(async (file) => {
    const jobs = createClient({ store: sqlite(file) })
    await jobs.migrate()
    const latencies = await child<number>('wake', file, async () => {
      for (let i = 0; i < WAKE_UPS; i++) {
        await wait(WAKE_UP_EVERY_MS)
        await jobs.enqueue(stamped, { sentAt: Date.now() })
      }
    })
    await jobs.close()
    return latencies
  })
}

// ── the child processes ───────────────────────────────────────────────────────────────────────────────────────────────

async function beIdle(file: string): Promise<void> {
  const store = sqlite(file)
  const worker = createWorker({ store, handlers: [handle(work, () => {})] })
  await worker.start()
  await worker.idle()
  process.send!('ready')
  await wait(1_000)
  const cpu = process.cpuUsage()
  await wait(IDLE_MS)
  const { user, system } = process.cpuUsage(cpu)
  process.send!({ cpuShare: (user + system) / 1_000 / IDLE_MS, rssBytes: process.memoryUsage.rss() } satisfies Idle)
  await worker.stop()
  await store.close()
  process.disconnect()
}

async function beWoken(file: string): Promise<void> {
  const store = sqlite(file)
  let left = WAKE_UPS
  let onLast = (): void => {}
  const allRun = new Promise<void>((resolve) => {
    onLast = resolve
  })
  const onJob = handle(stamped, ({ payload: { sentAt } }) => {
    process.send!(Date.now() - sentAt)
    if (--left === 0) onLast()
  })
  const worker = createWorker({ store, handlers: [onJob] })
  await worker.start()
  process.send!('ready')
  await allRun
  await worker.stop()
  await store.close()
  process.disconnect()
}

// ── the report ────────────────────────────────────────────────────────────────────────────────────────────────────────

async function report(): Promise<void> {
  const load = (): string => loadavg()[0]!.toFixed(1)
  console.log(`Node ${process.version}, ${driver}, ${availableParallelism()} cores, load ${load()} at the start`)
  const library: Figure[][] = []
  const bare: Figure[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    library.push(await libraryRound())
    bare.push(await bareRound())
  }
  console.log('\n| | jobs/s | bare jobs/s | ratio | CPU µs/job | bare µs/job | ratio |\n|---|---|---|---|---|---|---|')
  NAMES.forEach((name, i) => {
    const of = (rounds: readonly Figure[][], key: keyof Figure): number => median(rounds.map((figures) => figures[i]![key]))
    const [speed, bareSpeed, cpu, bareCpu] = [
      of(library, 'perSecond'),
      of(bare, 'perSecond'),
      of(library, 'cpuMicros'),
      of(bare, 'cpuMicros'),
    ]
    const cells = [
      speed.toFixed(0),
      bareSpeed.toFixed(0),
      (bareSpeed / speed).toFixed(2),
      cpu.toFixed(1),
      bareCpu.toFixed(1),
      (cpu / bareCpu).toFixed(2),
    ]
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  })
  const [kept, forgotten] = [await walBytes(undefined), await walBytes(false)]
  console.log(
    `\nlog, bytes for each job: enqueue in bulk ${kept.enqueued.toFixed(0)}; drain ${kept.drained.toFixed(0)}, with retain: false ${forgotten.drained.toFixed(0)}`,
  )
  const { cpuShare, rssBytes } = await idleWorker()
  console.log(`idle worker: ${(cpuShare * 100).toFixed(2)} % of a core, ${(rssBytes / 1e6).toFixed(0)} MB`)
  const latencies = (await wakeUps()).sort((a, b) => a - b)
  const at = (share: number): number => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]!
  console.log(
    `wake-up of another process, enqueue to handler: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms, of ${latencies.length}`,
  )
  console.log(`load ${load()} at the end`)
}

const [part, file = ''] = process.argv.slice(2)
if (part === 'idle') await beIdle(file)
else if (part === 'wake') await beWoken(file)
else await report()
