// A client and two workers on a disk that becomes full and then has room again; told as one line of JSON. The argument is a
// file on a small file system, or, with `limit`, on any: then the size of files is limited instead.
import { execFileSync } from 'node:child_process'
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { createClient, defineTask } from '../../dist/index.js'
import { sqlite } from '../../dist/sqlite.js'
import { createWorker, handle } from '../../dist/worker.js'

const [file, way] = process.argv.slice(2)
const payload = 'x'.repeat(2_000)
const plain = defineTask('plain')
const work = defineTask('work')
const jobs = createClient({ store: sqlite(file), logger: false })
const ids = { plain: [], work: [] }
const starts = []
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const until = async (condition) => {
  while (!(await condition())) await sleep(20)
}

process.on('unhandledRejection', (error) => {
  console.error(error)
  process.exit(1)
})
process.on('SIGXFSZ', () => {}) // else a write beyond the limit ends the process

const limitFiles = (bytes) => execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
const filler = `${file}.filler`
// Leaves so many bytes free, beside what the log has already.
const fill = (bytesFree = 0) => {
  if (way === 'limit') return limitFiles(statSync(`${file}-wal`).size + bytesFree)
  const handle = openSync(filler, 'w')
  for (let size = 65_536; size >= 1; ) {
    try {
      writeSync(handle, Buffer.alloc(size))
    } catch {
      size = Math.floor(size / 16)
    }
  }
  ftruncateSync(handle, fstatSync(handle).size - bytesFree)
  closeSync(handle)
}
const makeRoom = () => (way === 'limit' ? limitFiles('unlimited') : rmSync(filler))

const enqueue = async (task, count) => {
  for (const { id } of await jobs.enqueueMany(
    task,
    Array.from({ length: count }, () => payload),
  ))
    ids[task.name].push(id)
}
const all = (sql) => jobs.transaction(async ({ db }) => db.prepare(sql).all())
const column = async (table) => (await all(`select job from ${table} order by job`)).map(({ job }) => job)

let openGate
const gate = new Promise((resolve) => {
  openGate = resolve
})
const makeWorker = () => {
  const counts = { unavailable: 0, available: 0, lost: 0, codes: [] }
  const store = sqlite(file)
  const begin = async (name, { job }) => {
    starts.push({ name, id: job.id })
    await gate
  }
  const worker = (name) =>
    createWorker({
      store,
      handlers: [
        handle(plain, (context) => begin(name, context)),
        handle(work, async (context) => {
          await begin(name, context)
          await context.commit((tx) => void tx.db.prepare('insert into effects values (?)').run(context.job.id))
        }),
      ],
      queues: { default: { concurrency: 2, prefetch: 8 } },
      lease: '4s',
      logger: false,
    })
  return { counts, worker, store }
}
const workerOf = (name) => {
  const { counts, worker, store } = makeWorker()
  const made = worker(name)
  made.on('store.unavailable', ({ error }) => {
    counts.unavailable++
    counts.codes.push(error.code)
  })
  made.on('store.available', () => counts.available++)
  made.on('job.lost', () => counts.lost++)
  return { counts, worker: made, store }
}

await jobs.migrate()
await jobs.transaction(async ({ db }) => {
  db.exec(`create table effects (job text not null); create table finishes (job text not null);
    create trigger finished after insert on triphammer_history begin insert into finishes values (new.id); end`)
})
await enqueue(plain, 20)
await enqueue(work, 20)
const [stays, leaves] = [workerOf('stays'), workerOf('leaves')]
await Promise.all([stays.worker.start(), leaves.worker.start()])
await until(() => starts.length === 4)

// The last connection that is closed empties the log, which would make room: this one stays.
const watcher = sqlite(file)
await watcher.admin.count({})
fill()
// What fits into space that the log has already may still be written.
const refusals = []
for (const count of [300, ...Array.from({ length: 100 }, () => 1)]) {
  const error = await enqueue(plain, count).catch((error) => error)
  if (error) refusals.push({ count, code: error.code, message: error.message })
  if (refusals.length === 3) break
}
openGate()
await until(() => stays.counts.unavailable > 0 && leaves.counts.unavailable > 0)
const stopped = performance.now()
await leaves.worker.stop()
const stopMs = performance.now() - stopped

makeRoom()
const accepted = [...ids.plain, ...ids.work].sort()
const acceptedPlain = [...ids.plain]
const inStore = await jobs.count()
await until(async () => (await jobs.count({ state: 'completed' })) === accepted.length)
await until(() => stays.counts.available === stays.counts.unavailable)
await stays.worker.stop()
const finishes = await column('finishes')
const page = await jobs.list({}, { limit: 1_000 })
// One that fills the disk in its middle: larger than the log, which may have room from before, and by far than what is free.
const MANY = 3_000
const before = await jobs.count()
fill(524_288)
const large = await enqueue(plain, MANY).catch((error) => error)
const after = await jobs.count()
makeRoom()
await enqueue(plain, MANY)
console.log(
  JSON.stringify({
    ids: { plain: acceptedPlain, work: ids.work },
    accepted,
    inStore,
    refusals,
    starts,
    stopMs,
    stays: stays.counts,
    leaves: leaves.counts,
    effects: await column('effects'),
    finishes,
    large: { tried: MANY, before, code: large.code, after, inTheEnd: await jobs.count() },
    completed: page.jobs.map(({ id }) => id).sort(),
    attempts: page.jobs.map(({ attempt }) => attempt),
    integrity: await all('pragma integrity_check'),
  }),
)
for (const store of [stays.store, leaves.store, jobs.store, watcher]) await store.close()
