import { type Db, openDb } from './driver.ts'
import { PAYLOAD } from './library.ts'

// The bare loop is what the library is measured against: the same driver, file system and pragmas, and the least that a queue
// in SQLite has to write. No leases to extend, no policy, no types, no handlers.

const BATCH = 100

/** Makes the tables of the bare loop and leaves the file open. */
export function createBare(file: string): Db {
  const db = openBare(file)
  db.exec(`create table job (id text not null, priority integer not null, run_at integer not null, token text, payload text not null) strict;
    create unique index job_id on job (id);
    create index job_claim on job (priority, run_at, id) where token is null;
    create table history (id text not null, payload text not null) strict;
    create unique index history_id on history (id)`)
  return db
}

/** Opens a file that has the tables. */
export function openBare(file: string): Db {
  const db = openDb(file)
  db.exec('pragma journal_mode = wal; pragma synchronous = full')
  return db
}

/** What {@link insertBare} inserts. */
export interface BareJobs {
  readonly count: number
  /** Jobs in one transaction. */
  readonly inOne: number
  /** Default 0. */
  readonly priority?: number
  /** Milliseconds since the epoch; default now. */
  readonly runAt?: number
}

/** Inserts jobs. */
export function insertBare(db: Db, { count, inOne, priority = 0, runAt }: BareJobs): void {
  const insert = db.prepare(`insert into job (id, priority, run_at, payload) values (?, ${priority}, ?, ?)`)
  for (let done = 0; done < count; done += inOne) {
    db.exec('begin immediate')
    const end = Math.min(done + inOne, count)
    for (let i = done; i < end; i++)
      insert.run(`${Date.now()}-${String(i).padStart(22, '0')}`, runAt ?? Date.now(), JSON.stringify(PAYLOAD))
    db.exec('commit')
  }
}

/** How {@link drainBare} drains. */
export interface BareDrain {
  /** Moves what is finished to the history instead of deleting it. */
  readonly keep: boolean
  /** Jobs taken at a time (default 100). */
  readonly batch?: number
  /** Takes no more once it has taken so many (default: takes all). */
  readonly limit?: number
}

/** Takes jobs, a batch at a time, each finished in the transaction that takes the next. Returns how many it has taken. */
export function drainBare(db: Db, { keep, batch = BATCH, limit = Number.POSITIVE_INFINITY }: BareDrain): number {
  const { claim, finish } = statements(db, keep, batch)
  let claimed: Record<string, unknown>[] = []
  let token = ''
  let taken = 0
  do {
    db.exec('begin immediate')
    for (const { id } of claimed) finish(id, token)
    token = crypto.randomUUID()
    claimed = taken < limit ? claim.all(token, Date.now()) : []
    db.exec('commit')
    for (const row of claimed) JSON.parse(String(row['payload']))
    taken += claimed.length
  } while (claimed.length > 0)
  return taken
}

/** Taking and finishing apart, as `claim` and `finish` of a client do. */
export interface BareHands {
  /** Takes a batch, in one transaction. */
  claim(): readonly Taken[]
  /** Finishes one job into the history, in a transaction of its own. */
  finish(job: Taken): void
}

/** A job of the bare loop that somebody has. */
export interface Taken {
  readonly id: unknown
  readonly token: string
}

/** Makes {@link BareHands}. */
export function bareHands(db: Db, batch: number): BareHands {
  const { claim, finish } = statements(db, true, batch)
  return {
    claim() {
      const token = crypto.randomUUID()
      db.exec('begin immediate')
      const claimed = claim.all(token, Date.now())
      db.exec('commit')
      for (const row of claimed) JSON.parse(String(row['payload']))
      return claimed.map(({ id }) => ({ id, token }))
    },
    finish({ id, token }) {
      db.exec('begin immediate')
      finish(id, token)
      db.exec('commit')
    },
  }
}

interface Statements {
  readonly claim: ReturnType<Db['prepare']>
  readonly finish: (id: unknown, token: string) => void
}

function statements(db: Db, keep: boolean, batch: number): Statements {
  const claim = db.prepare(`update job set token = ? where id in
    (select id from job where token is null and run_at <= ? order by priority, run_at, id limit ${batch}) returning id, payload`)
  const copy = db.prepare('insert into history select id, payload from job where id = ? and token = ?')
  const remove = db.prepare('delete from job where id = ? and token = ?')
  return {
    claim,
    finish(id, token) {
      if (keep) copy.run(id, token)
      remove.run(id, token)
    },
  }
}
