import type { JobFailure } from '../core/failure.ts'
import type { RetryPolicy } from '../core/retry.ts'
import type { JobState } from '../core/state.ts'
import type { JobRecord } from '../store/admin.ts'
import type { JobId, LeaseRef, Run, SessionId } from '../store/types.ts'

/** A job as people see it. */
export interface Job {
  /** A UUID. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** Where it stands. */
  readonly state: JobState
  /** What a pending job waits for: its time, its next attempt, or a worker. */
  readonly waitsFor?: 'time' | 'retry' | 'worker'
  /** `undefined` if it could not be read; then `unreadable` says why. */
  readonly payload: unknown
  /** Why the payload could not be read. */
  readonly unreadable?: string
  /** Lower runs first. */
  readonly priority: number
  /** Attempts so far. */
  readonly attempt: number
  /** Attempts that it has, at most. */
  readonly maxAttempts: number
  /** When it was enqueued. */
  readonly createdAt: Date
  /** When it is due, or was. */
  readonly runAt: Date
  /** When its last attempt started; absent while it has not started, and after a release. */
  readonly startedAt?: Date
  /** When it ended. */
  readonly endedAt?: Date
  /** While running: when the lease ends, unless it is extended. */
  readonly leaseUntil?: Date
  /** While running: who holds it. The `id` of one of `workers()`, or a session of its own for each client that claims by hand. */
  readonly session?: SessionId
  /** The longest an attempt may take, if the job has a limit of its own. */
  readonly timeoutMs?: number
  /** Its own retry policy, if it has one. */
  readonly retry?: RetryPolicy
  /** How long it is kept once it has completed, if it was said; 0: not at all. */
  readonly retainMs?: number
  /** The last error, kept through retries. */
  readonly error?: JobFailure
  /** What its handler returned. */
  readonly result?: unknown
  /** What its handler last gave to `progress`. */
  readonly progress?: unknown
  /** Running, and asked to be cancelled. */
  readonly cancelRequested?: true
}

/** A run that was claimed by hand: what `extend`, `finish`, `fail` and `release` take. Plain data, so it may travel. */
export interface ClaimedRun {
  /** What makes it yours: keep it with the run. */
  readonly lease: LeaseRef
  /** The id of the job. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** `undefined` if it could not be read; then `unreadable` says why. */
  readonly payload: unknown
  /** Why the payload could not be read. */
  readonly unreadable?: string
  /** Lower runs first. */
  readonly priority: number
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** Attempts that the job has, at most. */
  readonly maxAttempts: number
  /** When the job was due. */
  readonly runAt: Date
  /** When it was claimed. */
  readonly claimedAt: Date
  /** The time limit of the attempt, which nobody keeps for a run that was claimed by hand. */
  readonly timeoutMs?: number
  /** The job's own policy, which `fail` goes by. */
  readonly retry?: Run['retry']
  /** Someone has asked that the job be cancelled: finish it as `cancelled()` instead of starting it. */
  readonly cancelRequested?: true
}

/** @param now milliseconds since the epoch */
export function toJob(record: JobRecord, now: number): Job {
  const { createdAt, runAt, startedAt, endedAt, leaseUntil, payload, result, progress, ...same } = record
  return {
    ...same,
    ...(record.state === 'pending' ? { waitsFor: waitsFor(record, now) } : {}),
    ...decodePayload(payload),
    createdAt: new Date(createdAt),
    runAt: new Date(runAt),
    ...(startedAt === undefined ? {} : { startedAt: new Date(startedAt) }),
    ...(endedAt === undefined ? {} : { endedAt: new Date(endedAt) }),
    ...(leaseUntil === undefined ? {} : { leaseUntil: new Date(leaseUntil) }),
    ...(result === undefined ? {} : { result: decodeLoosely(result) }),
    ...(progress === undefined ? {} : { progress: decodeLoosely(progress) }),
  }
}

// By lease, which copies of a run share. What a user does to the decoded payload is not what the job was given.
const payloadTexts = new WeakMap<LeaseRef, string>()

/** The payload of a run as JSON text: as it was claimed, or, where the run has travelled, as it came. */
export function payloadText({ lease, payload }: ClaimedRun): string {
  return payloadTexts.get(lease) ?? JSON.stringify(payload) ?? 'null'
}

/** A run as people see it. */
export function toClaimedRun(run: Run): ClaimedRun {
  payloadTexts.set(run.lease, run.payload)
  const { lease, id, task, queue, priority, attempt, maxAttempts, timeoutMs, retry, cancelRequested } = run
  return {
    lease,
    id,
    task,
    queue,
    ...decodePayload(run.payload),
    priority,
    attempt,
    maxAttempts,
    runAt: new Date(run.runAt),
    claimedAt: new Date(run.claimedAt),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry === undefined ? {} : { retry }),
    ...(cancelRequested ? { cancelRequested } : {}),
  }
}

function waitsFor({ runAt, attempt }: JobRecord, now: number): 'time' | 'retry' | 'worker' {
  if (runAt <= now) return 'worker'
  return attempt > 0 ? 'retry' : 'time'
}

// One row that cannot be read must not hide the others: it is shown as what it is.
function decodePayload(text: string): { payload: unknown; unreadable?: string } {
  try {
    return { payload: JSON.parse(text) }
  } catch (error) {
    return { payload: undefined, unreadable: String(error) }
  }
}

function decodeLoosely(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
