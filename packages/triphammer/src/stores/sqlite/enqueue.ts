import type { SqliteValue } from '../../sql/sqlite-connection.ts'
import type { EnqueueResult, NewJob } from '../../store/types.ts'
import { jsonOrNull, later, orNull, text } from './rows.ts'
import { changeAll } from './transact.ts'
import type { Write } from './write.ts'

/** Rows in one statement: each call into a driver costs 1 to 3 µs, about as much as the row itself (measured). */
const ROWS = 50

/**
 * Inserts jobs. An id that is live is a duplicate; one that has ended is a duplicate only for a `repeat`, otherwise the new
 * job takes the place of the old.
 */
export function enqueueJobs(write: Write, jobs: readonly NewJob[]): readonly EnqueueResult[] {
  if (jobs.length === 0) return []
  const ended = endedIds(write, jobs)
  const results: EnqueueResult[] = []
  for (let at = 0; at < jobs.length; at += ROWS) {
    const some = jobs.slice(at, at + ROWS)
    if (ended.size === 0 && insertTogether(write, some)) for (const { id } of some) results.push({ id, status: 'inserted' })
    else for (const job of some) results.push(enqueueOne(write, ended, job))
  }
  return results
}

function enqueueOne(write: Write, ended: Set<string>, job: NewJob): EnqueueResult {
  const hasEnded = ended.has(job.id)
  if ((hasEnded && job.repeat) || !insert(write, job)) return { id: job.id, status: 'duplicate' }
  if (hasEnded) {
    forget(write, job.id)
    ended.delete(job.id)
  }
  return { id: job.id, status: 'inserted' }
}

const COLUMNS = 'id, queue, task, priority, run_at, created_at, max_attempts, timeout_ms, retain_ms, retry, payload'
const insertOf = (rows: number): string =>
  `insert into triphammer_live (${COLUMNS}) values ${Array<string>(rows).fill('(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
   on conflict (id) do nothing`
const INSERT_ONE = insertOf(1)
const INSERT_ROWS = insertOf(ROWS)

function insertTogether(write: Write, jobs: readonly NewJob[]): boolean {
  if (jobs.length < ROWS) return false
  const values = jobs.flatMap((job) => valuesOf(write, job))
  if (!changeAll(write.db, ROWS, () => write.db.run(INSERT_ROWS, values))) return false
  for (const { queue } of jobs) write.wake(queue)
  return true
}

function insert(write: Write, job: NewJob): boolean {
  if (write.db.run(INSERT_ONE, valuesOf(write, job)) === 0) return false
  write.wake(job.queue)
  return true
}

function valuesOf({ now }: Write, job: NewJob): SqliteValue[] {
  return [
    job.id,
    job.queue,
    job.task,
    job.priority,
    job.runAt ?? later(now, job.delayMs ?? 0),
    now,
    job.maxAttempts,
    orNull(job.timeoutMs),
    orNull(job.retainMs),
    jsonOrNull(job.retry),
    job.payload,
  ]
}

// One statement for all of them: fresh ids have never ended, and should not pay for those that have.
function endedIds({ db }: Write, jobs: readonly NewJob[]): Set<string> {
  const ids = JSON.stringify(jobs.map(({ id }) => id))
  const rows = db.all(
    `select id from triphammer_ended indexed by triphammer_ended_id where id in (select value from json_each(?))
     union all select id from triphammer_history indexed by triphammer_history_id where id in (select value from json_each(?))`,
    [ids, ids],
  )
  return new Set(rows.map((row) => text(row, 'id')))
}

function forget({ db }: Write, id: string): void {
  db.run('delete from triphammer_ended where id = ?', [id])
  db.run('delete from triphammer_history where id = ?', [id])
}
