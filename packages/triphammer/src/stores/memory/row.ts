import type { JobFailure } from '../../core/failure.ts'
import type { RetryPolicy } from '../../core/retry.ts'
import type { JobState } from '../../core/state.ts'
import type { JobRecord } from '../../store/admin.ts'
import type { JobId, JobRef, NewJob, Run, SessionId } from '../../store/types.ts'

/** Who holds a running job, since when and until when. */
export interface Lease {
  readonly token: string
  readonly session: SessionId
  /** When the attempt was claimed. A reclaim does not change it: it is the same attempt. */
  readonly claimedAt: number
  readonly until: number
}

/** A job. Rows are never changed, only replaced, so that a transaction can hold one without copying it. */
export interface Row {
  readonly id: JobId
  readonly task: string
  readonly queue: string
  readonly payload: string
  readonly priority: number
  readonly maxAttempts: number
  readonly timeoutMs: number | undefined
  readonly retry: RetryPolicy | undefined
  readonly retainMs: number | undefined
  readonly createdAt: number

  readonly state: JobState
  readonly attempt: number
  readonly runAt: number
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  /** Present exactly while the job is running. */
  readonly lease: Lease | undefined
  /** A request to cancel; only a running job has one. */
  readonly cancel: { readonly reason: string | undefined } | undefined
  readonly error: JobFailure | undefined
  readonly result: string | undefined
  readonly progress: string | undefined
}

/** A running job. */
export type RunningRow = Row & { readonly lease: Lease }

/** The moment `ms` after another, in whole milliseconds: a fraction counts as a full one, so that nothing is early. */
export function later(at: number, ms: number): number {
  return at + Math.ceil(ms)
}

/** The row of a job that has just been enqueued. */
export function newRow(job: NewJob, now: number): Row {
  return {
    id: job.id,
    task: job.task,
    queue: job.queue,
    payload: job.payload,
    priority: job.priority,
    maxAttempts: job.maxAttempts,
    timeoutMs: job.timeoutMs,
    retry: job.retry,
    retainMs: job.retainMs,
    createdAt: now,
    state: 'pending',
    attempt: 0,
    runAt: job.runAt ?? later(now, job.delayMs ?? 0),
    startedAt: undefined,
    endedAt: undefined,
    lease: undefined,
    cancel: undefined,
    error: undefined,
    result: undefined,
    progress: undefined,
  }
}

/** The row as people see it. */
export function recordOf(row: Row): JobRecord {
  const { id, task, queue, state, payload, priority, attempt, maxAttempts, createdAt, runAt } = row
  return {
    ...{ id, task, queue, state, payload, priority, attempt, maxAttempts, createdAt, runAt },
    ...(row.startedAt === undefined ? {} : { startedAt: row.startedAt }),
    ...(row.endedAt === undefined ? {} : { endedAt: row.endedAt }),
    ...(row.lease === undefined ? {} : { leaseUntil: row.lease.until, session: row.lease.session }),
    ...policyOf(row),
    ...(row.error === undefined ? {} : { error: row.error }),
    ...(row.result === undefined ? {} : { result: row.result }),
    ...(row.progress === undefined ? {} : { progress: row.progress }),
    ...(row.cancel === undefined ? {} : { cancelRequested: true }),
  }
}

/** The row as its holder sees it. */
export function runOf(row: RunningRow): Run {
  const { id, task, queue, payload, priority, attempt, maxAttempts, runAt, createdAt } = row
  return {
    lease: { id, token: row.lease.token },
    ...{ id, task, queue, payload, priority, attempt, maxAttempts, runAt, createdAt },
    claimedAt: row.lease.claimedAt,
    ...policyOf(row),
    ...(row.cancel === undefined ? {} : { cancelRequested: true }),
    links: 0,
  }
}

function policyOf(row: Row): Pick<JobRecord, 'timeoutMs' | 'retry' | 'retainMs'> {
  return {
    ...(row.timeoutMs === undefined ? {} : { timeoutMs: row.timeoutMs }),
    ...(row.retry === undefined ? {} : { retry: row.retry }),
    ...(row.retainMs === undefined ? {} : { retainMs: row.retainMs }),
  }
}

/** The row as a reference. */
export function refOf({ id, task, queue, state }: Row): JobRef {
  return { id, task, queue, state }
}

/** Whether the row is running; narrows its type. */
export function isRunning(row: Row | undefined): row is RunningRow {
  return row?.lease !== undefined
}

/** Whether this lease still holds this row. */
export function holds(row: Row | undefined, token: string): row is RunningRow {
  return isRunning(row) && row.lease.token === token
}
