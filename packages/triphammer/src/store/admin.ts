import type { JobFailure } from '../core/failure.ts'
import type { RetryPolicy } from '../core/retry.ts'
import type { JobState } from '../core/state.ts'
import type { JobId, JobRef, SessionRecord, StoreTx } from './types.ts'

/** Which jobs. Every condition given must hold; an empty filter means all jobs. */
export interface JobFilter {
  readonly ids?: readonly JobId[]
  readonly queues?: readonly string[]
  readonly tasks?: readonly string[]
  readonly states?: readonly JobState[]
  readonly priorities?: readonly number[]
  /** Milliseconds since the epoch; `Before` is exclusive, `After` inclusive. */
  readonly createdBefore?: number
  readonly createdAfter?: number
  readonly runBefore?: number
  readonly runAfter?: number
  readonly endedBefore?: number
  readonly endedAfter?: number
}

/** A page of a listing in the order of ids, which is the order of creation. */
export interface Page {
  readonly limit: number
  readonly order: 'newest' | 'oldest'
  /** Go on behind this id: the `next` of the page before. */
  readonly after?: JobId
}

/** A job as it is stored, live or ended. */
export interface JobRecord {
  readonly id: JobId
  readonly task: string
  readonly queue: string
  readonly state: JobState
  /** JSON text, as stored. */
  readonly payload: string
  readonly priority: number
  /** Claims so far, less those that were refunded. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly createdAt: number
  readonly runAt: number
  /** When the last attempt started; absent while the job has not started, and after a release. */
  readonly startedAt?: number
  readonly endedAt?: number
  /** While running: when the lease ends. */
  readonly leaseUntil?: number
  readonly timeoutMs?: number
  readonly retry?: RetryPolicy
  readonly retainMs?: number
  /** The last error, kept through retries. */
  readonly error?: JobFailure
  /** JSON text. */
  readonly result?: string
  /** JSON text. */
  readonly progress?: string
  /** Running, and asked to be cancelled. */
  readonly cancelRequested?: true
}

/** What `find` returns. */
export interface JobPage {
  readonly jobs: readonly JobRecord[]
  /** There may be more: `after` of the next page. */
  readonly next?: JobId
}

/** What to count by. */
export type CountKey = 'state' | 'queue' | 'task' | 'priority'

/** How many jobs have this value. Values that no job has are absent. */
export interface Count {
  readonly key: string
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
  /** `null` resumes. */
  readonly paused?: { readonly by?: string; readonly reason?: string } | null
}

/** A queue that has live jobs or that something was said about. */
export interface QueueInfo {
  readonly name: string
  readonly pending: number
  readonly running: number
  readonly paused?: { readonly by?: string; readonly reason?: string; readonly since: number }
}

/** The side of a store that people and tools use. */
export interface AdminStore {
  find(filter: JobFilter, page: Page): Promise<JobPage>
  /** Without `by` a single count with the key `'all'`. */
  count(filter: JobFilter, by?: CountKey): Promise<readonly Count[]>
  apply(filter: JobFilter, command: AdminCommand, slice: Slice, tx?: StoreTx): Promise<Applied>
  /** Deletes jobs. A running one is refused unless `force`, which takes it away. */
  remove(filter: JobFilter, slice: Slice & { readonly force?: boolean }, tx?: StoreTx): Promise<Applied>
  queues(): Promise<readonly QueueInfo[]>
  /** Pausing a paused queue keeps `since`; by and reason become the new ones. */
  setQueue(name: string, patch: QueuePatch): Promise<QueueInfo>
  sessions(): Promise<readonly SessionRecord[]>
}
