import type { JobFailure } from '../core/failure.ts'
import type { RetryPolicy } from '../core/retry.ts'
import type { JobState } from '../core/state.ts'
import type { JobId, JobRef, SessionId, SessionRecord, StoreTx } from './types.ts'

/** Which jobs. Every condition given must hold; an empty filter means all jobs. */
export interface JobFilter {
  /** One of these. */
  readonly ids?: readonly JobId[]
  /** In one of these. */
  readonly queues?: readonly string[]
  /** Of one of these, by name. */
  readonly tasks?: readonly string[]
  /** In one of these. */
  readonly states?: readonly JobState[]
  /** Of one of these. */
  readonly priorities?: readonly number[]
  /** Milliseconds since the epoch, as all of these; `Before` is exclusive. */
  readonly createdBefore?: number
  /** `After` is inclusive. */
  readonly createdAfter?: number
  /** Due before. */
  readonly runBefore?: number
  /** Due at or after. */
  readonly runAfter?: number
  /** Ended before; a job that has not ended does not fit. */
  readonly endedBefore?: number
  /** Ended at or after. */
  readonly endedAfter?: number
  /** Running, under a lease that ends before this moment. */
  readonly leaseBefore?: number
}

/** A page of a listing in the order of ids, which is the order of creation. */
export interface Page {
  /** At most this many jobs. */
  readonly limit: number
  /** What comes first. */
  readonly order: 'newest' | 'oldest'
  /** Go on behind this id: the `next` of the page before. */
  readonly after?: JobId
}

/** A job as it is stored, live or ended. */
export interface JobRecord {
  /** Its id. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** Where it stands. */
  readonly state: JobState
  /** JSON text, as stored. */
  readonly payload: string
  /** Lower runs first. */
  readonly priority: number
  /** Claims so far, less those that were refunded. */
  readonly attempt: number
  /** Attempts that it has, at most. */
  readonly maxAttempts: number
  /** Milliseconds since the epoch, by the store's clock, as every `…At`. */
  readonly createdAt: number
  /** When it is due, or was. */
  readonly runAt: number
  /** When the last attempt started; absent while the job has not started, and after a release. */
  readonly startedAt?: number
  /** When it ended. */
  readonly endedAt?: number
  /** While running: when the lease ends. */
  readonly leaseUntil?: number
  /** While running: who holds it. */
  readonly session?: SessionId
  /** The longest an attempt may take. */
  readonly timeoutMs?: number
  /** Its own policy. */
  readonly retry?: RetryPolicy
  /** How long it is kept after it completed. */
  readonly retainMs?: number
  /** The last error, kept through retries. */
  readonly error?: JobFailure
  /** What the handler returned, as JSON text. */
  readonly result?: string
  /** The last progress, as JSON text. */
  readonly progress?: string
  /** Running, and asked to be cancelled. */
  readonly cancelRequested?: true
}

/** What `find` returns. */
export interface JobPage {
  /** In the order of the page. */
  readonly jobs: readonly JobRecord[]
  /** There may be more: `after` of the next page. */
  readonly next?: JobId
}

/** What to count by. */
export type CountKey = 'state' | 'queue' | 'task' | 'priority'

/** How many jobs have this value. Values that no job has are absent. */
export interface Count {
  /** The value, as text. */
  readonly key: string
  /** How many jobs. */
  readonly count: number
}

/**
 * What a person can do to jobs, and from which states. A job in another state is refused and stays as it is.
 *
 * | command | from | to |
 * |---|---|---|
 * | `retry` | running (taken away, attempt kept), pending | pending at `at` |
 * | | dead, timed_out, failed, cancelled | pending at `at`, attempts reset, error kept |
 * | `kill` | pending, running, failed, timed_out | dead |
 * | `fail` | pending, running | failed |
 * | `cancel` | pending; running with `force` (taken away) | cancelled |
 * | | running | running, cancel requested |
 * | `reschedule` | pending | pending at `at` |
 * | `reprioritise` | pending | pending |
 *
 * Without `at` (and in `delayMs` after it) the store's clock decides. Taking a running job away ends its lease: its worker
 * learns of it at its next pulse.
 */
export type AdminCommand =
  | { readonly kind: 'retry'; readonly at?: number; readonly delayMs?: number }
  | { readonly kind: 'kill'; readonly error: JobFailure }
  | { readonly kind: 'fail'; readonly error: JobFailure }
  | { readonly kind: 'cancel'; readonly reason?: string; readonly force?: boolean }
  | { readonly kind: 'reschedule'; readonly at?: number; readonly delayMs?: number }
  | { readonly kind: 'reprioritise'; readonly priority: number }

/** Which part of a filter's jobs one call handles, in the order of ids, oldest first. */
export interface Slice {
  /** Look at no more than this many jobs. */
  readonly limit: number
  /** Go on behind this id. */
  readonly after?: JobId
}

/** What a command did to a slice of jobs. */
export interface Applied {
  /** With the state each has now; for a requested cancel that is `running`. */
  readonly changed: readonly JobRef[]
  /** In a state that the command does not apply to, with that state. */
  readonly refused: readonly JobRef[]
  /** There may be more: `after` of the next call. */
  readonly next?: JobId
}

/** A change to a queue. */
export interface QueuePatch {
  /** A pause, by whom and why; `null` resumes. */
  readonly paused?: { readonly by?: string; readonly reason?: string } | null
}

/** A queue that has live jobs or that something was said about. */
export interface QueueInfo {
  /** Its name. */
  readonly name: string
  /** Jobs that are pending, due or not. */
  readonly pending: number
  /** Jobs that are claimed, held ones included. */
  readonly running: number
  /** When the job that has been due for longest fell due, in milliseconds since the epoch; absent if none is due. */
  readonly waitingSince?: number
  /** Present while it is paused: by whom, why, and since when in milliseconds since the epoch. */
  readonly paused?: { readonly by?: string; readonly reason?: string; readonly since: number }
}

/** The side of a store that people and tools use. */
export interface AdminStore {
  /** A page of the jobs that fit. */
  find(filter: JobFilter, page: Page): Promise<JobPage>
  /** Without `by` a single count with the key `'all'`. */
  count(filter: JobFilter, by?: CountKey): Promise<readonly Count[]>
  /** Does what the command says to a slice of the jobs that fit. */
  apply(filter: JobFilter, command: AdminCommand, slice: Slice, tx?: StoreTx): Promise<Applied>
  /** Deletes jobs. A running one is refused unless `force`, which takes it away. */
  remove(filter: JobFilter, slice: Slice & { readonly force?: boolean }, tx?: StoreTx): Promise<Applied>
  /** The queues that have live jobs, and those that something was said about. */
  queues(): Promise<readonly QueueInfo[]>
  /** Pausing a paused queue keeps `since`; by and reason become the new ones. */
  setQueue(name: string, patch: QueuePatch): Promise<QueueInfo>
  /** The workers that have been heard of lately. */
  sessions(): Promise<readonly SessionRecord[]>
}
