import type { EnqueueResult, NewJob } from '../../store/types.ts'
import { jsonOrNull, later, orNull, text } from './rows.ts'
import type { Write } from './write.ts'

/**
 * Inserts jobs. An id that is live is a duplicate; one that has ended is a duplicate only for a `repeat`, otherwise the new
 * job takes the place of the old.
 */
export function enqueueJobs(write: Write, jobs: readonly NewJob[]): readonly EnqueueResult[] {
  if (jobs.length === 0) return []
  const ended = endedIds(write, jobs)
  return jobs.map((job) => {
    const hasEnded = ended.has(job.id)
    if ((hasEnded && job.repeat) || !insert(write, job)) return { id: job.id, status: 'duplicate' }
    if (hasEnded) {
      forget(write, job.id)
      ended.delete(job.id)
    }
    write.wake(job.queue)
    return { id: job.id, status: 'inserted' }
  })
}

const INSERT = `insert into triphammer_live
  (id, queue, task, priority, run_at, created_at, max_attempts, timeout_ms, retain_ms, retry, payload)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`

function insert({ db, now }: Write, job: NewJob): boolean {
  const inserted = db.run(INSERT, [
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
  ])
  return inserted === 1
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
