import { DEFAULTS } from '../../core/defaults.ts'
import type { SqliteConnection, SqliteValue } from '../../sql/sqlite-connection.ts'
import type { AdminStore } from '../../store/admin.ts'
import type { Schema, Store, StoreTx } from '../../store/store.ts'
import { applyCommand, removeJobs } from './apply.ts'
import { beatWrites, listSessions, readBeat, writeBeat } from './beat.ts'
import { finishAndClaim, lookForWork } from './claim.ts'
import { createDatabase, type Database } from './database.ts'
import { enqueueJobs } from './enqueue.ts'
import { extendLeases, extendWrites, lookAtLeases } from './extend.ts'
import { countJobs, findJobs } from './find.ts'
import { finishRuns } from './finish.ts'
import { checkHealth } from './health.ts'
import { maintain, needsMaintenance, truncateWal } from './maintain.ts'
import { parseSqliteOptions, type Settings, type SqliteOptions } from './options.ts'
import { listQueues, setQueue } from './queues.ts'
import { createReclaimer } from './reclaim.ts'
import { createSameFile } from './same-file.ts'
import { applyPending, createSchemaKeeper, readStatus, refuseNewer } from './schema.ts'
import { transact } from './transact.ts'
import { createTransactions } from './transactions.ts'
import { createWakeups } from './wakeups.ts'
import type { Write } from './write.ts'

/**
 * A store in a SQLite file, which may be the database of your application: all its tables begin with `triphammer_`. Any
 * number of processes on one machine may use the file. It is opened at the first call; folders that are missing are made.
 * `':memory:'` is a database of this store object alone: no transaction of another connection can be used with it, and
 * other calls wait while a transaction of its own is open.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`
 *
 * @example
 * const jobs = createClient({ store: sqlite('app.db') })
 */
export function sqlite(file: string, options: SqliteOptions = {}): Store {
  const settings = parseSqliteOptions(file, options)
  const { clock, ids } = settings
  const schema = createSchemaKeeper(settings.file, settings.migrate)

  const wakeups = createWakeups(settings.isMemory ? undefined : settings.file, clock, () => writtenByOthers())
  const sameFile = createSameFile(settings)
  const database = createDatabase({
    settings,
    schema,
    sameFile,
    events: {
      opened: () => wakeups.arm(),
      committed: wakeups.notify,
      waited: (ms) => reclaimer.waited(ms),
    },
  })
  const reclaimer = createReclaimer({ database, clock, ids })
  const writtenByOthers = otherWriters(database)
  const transactions = createTransactions({ settings, database, schema, sameFile, committed: wakeups.notify })
  // Within a user's transaction everything happens before the call returns: a synchronous driver cannot wait.
  const write = async <T>(tx: StoreTx | undefined, work: (write: Write) => T): Promise<T> =>
    tx === undefined ? database.write(work) : transactions.within(tx, work)

  return {
    info: { name: 'sqlite', clock: settings.clockIsInjected ? 'injected' : 'database', connections: 1 },
    facets: {
      wakeups: {
        subscribe(queues, wake) {
          database.checkOpen()
          return wakeups.subscribe(queues, wake)
        },
      },
      sync: { enqueue: (jobs, tx) => transactions.within(tx, (w) => enqueueJobs(w, jobs)) },
      results: { maxBytes: DEFAULTS.resultBytes },
      health: { check: ({ deep }) => checkHealth({ database, settings, deep }) },
    },
    schema: schemaOf(database, settings),
    admin: adminOf(database, write),

    adopt(foreign) {
      database.checkOpen()
      return transactions.adopt(foreign)
    },
    async transaction(fn) {
      database.checkOpen()
      return transactions.run(fn)
    },
    enqueue: (jobs, tx) => write(tx, (w) => enqueueJobs(w, jobs)),
    finish: (outcomes, tx) => write(tx, (w) => finishRuns(w, outcomes)),
    async claim(request) {
      if (!request.finish?.length) {
        const idle = await database.read((db, now) => lookForWork(db, now, request))
        if (idle) return idle
      }
      return database.write((w) => finishAndClaim(w, ids, request))
    },
    async extend(leases, extension) {
      if (!extendWrites(leases, extension)) return database.read((db) => lookAtLeases(db, leases))
      return database.write((w) => {
        extendLeases(w, leases, extension)
        return lookAtLeases(w.db, leases)
      })
    },
    reclaim: reclaimer.reclaim,
    async beat(session) {
      const { beat, writes } = await database.read((db, now) => ({
        beat: readBeat(db, now, session),
        writes: beatWrites(db, now, session),
      }))
      if (writes) await database.write((w) => writeBeat(w, session))
      return beat
    },
    async maintain({ limit }) {
      const { file: path, isMemory, walLimitBytes } = settings
      if (!isMemory) await database.bare((db) => truncateWal(db, path, walLimitBytes))
      const needed = await database.read(needsMaintenance)
      return needed ? database.write((w) => maintain(w, limit)) : { removed: 0, more: false }
    },
    async close() {
      wakeups.end()
      database.close()
    },
  }
}

type Writer = <T>(tx: StoreTx | undefined, work: (write: Write) => T) => Promise<T>

function adminOf(database: Database, write: Writer): AdminStore {
  return {
    find: (filter, page) => database.read((db) => findJobs(db, filter, page)),
    count: (filter, by) => database.read((db) => countJobs(db, filter, by)),
    apply: (filter, command, slice, tx) => write(tx, (w) => applyCommand(w, filter, command, slice)),
    remove: (filter, slice, tx) => write(tx, (w) => removeJobs(w, filter, slice)),
    queues: () => database.read(listQueues),
    setQueue: (name, patch) => write(undefined, (w) => setQueue(w, name, patch)),
    sessions: () => database.read(listSessions),
  }
}

function schemaOf(database: Database, { file, clock }: Settings): Schema {
  return {
    status: () => database.bare(readStatus),
    async migrate({ dryRun = false } = {}) {
      const status = await database.bare(readStatus)
      refuseNewer(status, file)
      if (dryRun || status.pending.length === 0) return status.pending
      return database.bare((db) =>
        transact(db, () => {
          // Read again under the lock: another process may have been first.
          const { pending } = readStatus(db)
          applyPending(db, pending, clock.now())
          return pending
        }),
      )
    },
  }
}

// SQLite's data_version changes for a connection when any other has committed; of two connections it says nothing. A database
// that cannot be asked just now may have changed.
function otherWriters(database: Database): () => boolean {
  let asked: SqliteConnection | undefined
  let last: SqliteValue | undefined
  return () => {
    const db = database.idle()
    if (!db) return true
    const before = db === asked ? last : undefined
    asked = db
    try {
      last = db.get('pragma data_version')?.['data_version']
      return last !== before
    } catch {
      return true
    }
  }
}
