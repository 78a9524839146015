import { cancelFailure, type JobFailure } from '../../core/failure.ts'
import { type FinalState, isFinal } from '../../core/state.ts'
import type { SqliteRow } from '../../sql/sqlite-connection.ts'
import type { AdminCommand, Applied, JobFilter, Slice } from '../../store/admin.ts'
import type { JobRef } from '../../store/types.ts'
import { moveToEnded } from './ended.ts'
import { selectPage } from './find.ts'
import { cancelJson, cancelReason, later, refOf, text } from './rows.ts'
import { disturb, type Write } from './write.ts'

/** Does what a person commands to a slice of jobs. */
export function applyCommand(write: Write, filter: JobFilter, command: AdminCommand, slice: Slice): Applied {
  return changeSlice(write, filter, slice, (job) => {
    const state = changeOne(write, job, command)
    return state && { ...job.ref, state }
  })
}

/** Deletes a slice of jobs; each is answered with the state that it had. */
export function removeJobs(write: Write, filter: JobFilter, slice: Slice & { readonly force?: boolean }): Applied {
  return changeSlice(write, filter, slice, ({ ref, isLive }) => {
    if (ref.state === 'running' && !slice.force) return undefined
    const table = isLive ? 'triphammer_live' : ref.state === 'completed' ? 'triphammer_history' : 'triphammer_ended'
    write.db.run(`delete from ${table} where id = ?`, [ref.id])
    return ref
  })
}

interface StoredJob {
  readonly ref: JobRef
  readonly isLive: boolean
  readonly row: SqliteRow
}

// Changes one job and tells what it is now, or leaves it alone.
function changeSlice(write: Write, filter: JobFilter, slice: Slice, change: (job: StoredJob) => JobRef | undefined): Applied {
  const { rows, next } = selectPage(write.db, filter, { ...slice, order: 'oldest' })
  const changed: JobRef[] = []
  const refused: JobRef[] = []
  for (const row of rows) {
    const job: StoredJob = { ref: refOf(row), isLive: !isFinal(refOf(row).state), row }
    const ref = change(job)
    if (ref) changed.push(ref)
    else refused.push(job.ref)
    if (ref && row['session'] !== null) disturb(write, text(row, 'session'))
  }
  return { changed, refused, ...(next === undefined ? {} : { next }) }
}

// The state that the job has after the command, or undefined where the command does not apply to its state.
function changeOne(write: Write, job: StoredJob, command: AdminCommand): JobRef['state'] | undefined {
  const { ref, isLive } = job
  switch (command.kind) {
    case 'retry':
      return ref.state === 'completed' ? undefined : putBack(write, job, momentOf(write, command))
    case 'kill':
      if (isLive) return end(write, job, 'dead', command.error)
      return ref.state === 'failed' || ref.state === 'timed_out' ? bury(write, job, command.error) : undefined
    case 'fail':
      return isLive ? end(write, job, 'failed', command.error) : undefined
    case 'cancel':
      return isLive ? cancel(write, job, command.reason ?? cancelReason(job.row), command.force ?? false) : undefined
    case 'reschedule':
      return ref.state === 'pending' ? putBack(write, job, momentOf(write, command)) : undefined
    case 'reprioritise':
      return ref.state === 'pending' ? reprioritise(write, job, command.priority) : undefined
  }
}

function momentOf({ now }: Write, { at, delayMs = 0 }: { readonly at?: number; readonly delayMs?: number }): number {
  return at ?? later(now, delayMs)
}

function putBack({ db, now, wake }: Write, { ref, isLive }: StoredJob, runAt: number): 'pending' {
  if (isLive) {
    db.run('update triphammer_live set run_at = ?, lease_until = null, token = null, session = null, cancel = null where id = ?', [
      runAt,
      ref.id,
    ])
  } else {
    db.run(
      `insert into triphammer_live
         (id, queue, task, priority, run_at, created_at, max_attempts, timeout_ms, retain_ms, retry, error, progress, payload)
       select id, queue, task, priority, ?, created_at, max_attempts, timeout_ms, retain_ms, retry, error, progress, payload
       from triphammer_ended where id = ?`,
      [runAt, ref.id],
    )
    db.run('delete from triphammer_ended where id = ?', [ref.id])
  }
  if (runAt <= now) wake(ref.queue)
  return 'pending'
}

function end(write: Write, { ref }: StoredJob, state: FinalState, error: JobFailure): FinalState {
  moveToEnded(write, { id: ref.id, state, error })
  return state
}

function bury({ db, now }: Write, { ref }: StoredJob, error: JobFailure): 'dead' {
  db.run("update triphammer_ended set state = 'dead', ended_at = ?, error = ? where id = ?", [now, JSON.stringify(error), ref.id])
  return 'dead'
}

function cancel(write: Write, job: StoredJob, reason: string | undefined, force: boolean): JobRef['state'] {
  if (job.ref.state === 'pending' || force) return end(write, job, 'cancelled', cancelFailure(reason))
  write.db.run('update triphammer_live set cancel = ? where id = ?', [cancelJson(reason), job.ref.id])
  return 'running'
}

function reprioritise({ db, wake }: Write, { ref }: StoredJob, priority: number): 'pending' {
  db.run('update triphammer_live set priority = ? where id = ?', [priority, ref.id])
  wake(ref.queue)
  return 'pending'
}
