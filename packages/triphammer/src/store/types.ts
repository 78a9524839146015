import type { JobFailure } from '../core/failure.ts'
import type { Weights } from '../core/priority.ts'
import type { RetryPolicy } from '../core/retry.ts'
import type { JobState } from '../core/state.ts'

/** A UUID in lower-case text. */
export type JobId = string
/** The id of a worker process or a claiming client. */
export type SessionId = string

/** An open transaction of a store. What it is made of is the store's own business. */
export interface StoreTx {
  /** The connection that the transaction runs on, for the user's own statements. */
  readonly db: unknown
}

/**
 * A job on its way into a store. Payloads cross the seam as JSON text: the client encodes once, the executor decodes once,
 * and no store needs to understand them. A store may rewrite the text to an equivalent (jsonb does).
 */
export interface NewJob {
  /** Its id. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** JSON text. */
  readonly payload: string
  /** Lower runs first; -32768 to 32767. */
  readonly priority: number
  /** Milliseconds since the epoch. Exclusive with `delayMs`; with neither, the job is due at once. */
  readonly runAt?: number
  /** Added to the store's clock. */
  readonly delayMs?: number
  /** Attempts, not retries. */
  readonly maxAttempts: number
  /** The longest an attempt may take. */
  readonly timeoutMs?: number
  /** When to try again. */
  readonly retry?: RetryPolicy
  /** How long the job is kept after it completed; 0 forgets it at once. Absent: 7 days. */
  readonly retainMs?: number
  /**
   * The id may be known to the store already: the call repeats one whose reply was lost, or the user chose the id. Such a
   * job is looked for among the ended ones too (invariant 9).
   */
  readonly repeat?: true

  // Each of these needs the facet of its name; a client sends none that the store does not have.
  /** Not used yet. */
  readonly trace?: string
  /** Not used yet. */
  readonly key?: string
  /** Not used yet. */
  readonly keyMode?: 'replace' | 'preserve' | 'dedupe'
  /** Not used yet. */
  readonly lane?: string
  /** Not used yet. */
  readonly flags?: readonly string[]
  /** Not used yet. */
  readonly batchId?: string
  /** Not used yet. */
  readonly parents?: readonly JobId[]
  /** Not used yet. */
  readonly schedule?: string
}

/** What became of an enqueued job. `id` is the id of the job that now stands for it. */
export interface EnqueueResult {
  /** The id of the job that now stands for it. */
  readonly id: JobId
  /** `duplicate`: a job of this id was there already, and stays as it is. `replaced` needs the facet of keys, which no store has yet. */
  readonly status: 'inserted' | 'replaced' | 'duplicate'
}

/** What a worker shows to act on a run. The token is unique to the claim call that made it, and never used again. */
export interface LeaseRef {
  /** The id of the job. */
  readonly id: JobId
  /** Of this claim alone. */
  readonly token: string
}

/** One claim of a job. */
export interface Run {
  /** What makes it the claimer's. */
  readonly lease: LeaseRef
  /** The id of the job. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** JSON text. */
  readonly payload: string
  /** Lower runs first. */
  readonly priority: number
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** Attempts that the job has, at most. */
  readonly maxAttempts: number
  /** Milliseconds since the epoch, by the store's clock, as every `…At` across the seam. */
  readonly runAt: number
  /** When the job was enqueued. */
  readonly createdAt: number
  /** When this run was claimed. */
  readonly claimedAt: number
  /** The longest the attempt may take. */
  readonly timeoutMs?: number
  /** The job's own policy. */
  readonly retry?: RetryPolicy
  /** How long the job is kept after it completed. */
  readonly retainMs?: number
  /** Someone has asked that the job be cancelled; it shall not start. */
  readonly cancelRequested?: true
  /**
   * Bits that say what a finish of this job sets off elsewhere (key, lane, batch, flow …). 0 for a plain job, which takes
   * the one-statement path.
   */
  readonly links: number
  /** Not used yet. */
  readonly trace?: string
  /** Not used yet. */
  readonly key?: string
  /** Not used yet. */
  readonly lane?: string
  /** Not used yet. */
  readonly flags?: readonly string[]
  /** Not used yet. */
  readonly batchId?: string
  /** Not used yet. */
  readonly schedule?: string
}

/** What became of a run. */
export type Outcome = OutcomeKind & {
  readonly lease: LeaseRef
  /**
   * When the handler started and ended, in milliseconds after the claim, on the worker's monotonic clock. The store writes
   * `started_at = claimed_at + startedMs`, so that coalesced finishing does not blur it. Absent (a claim by hand): the
   * start is the claim and the end is now.
   */
  readonly startedMs?: number
  readonly endedMs?: number
  /** Jobs written in the finishing transaction, if and only if the outcome is applied. */
  readonly spawn?: readonly NewJob[]
}

/**
 * The kinds of {@link Outcome}. Delays are added to the store's clock; `at` is for a moment that the user named. `unstarted`
 * says that the handler never started: the job ends, but the attempt is given back and no start is kept (invariant 6).
 */
export type OutcomeKind =
  | { readonly kind: 'completed'; readonly result?: string }
  | { readonly kind: 'retry'; readonly error: JobFailure; readonly delayMs: number; readonly at?: never }
  | { readonly kind: 'retry'; readonly error: JobFailure; readonly at: number; readonly delayMs?: never }
  /** Again later; the attempt is refunded. */
  | { readonly kind: 'snooze'; readonly delayMs: number }
  /** As if it had not been claimed: attempt refunded, start time gone, run time and so its place kept. */
  | { readonly kind: 'release' }
  | { readonly kind: 'dead'; readonly error: JobFailure }
  | { readonly kind: 'timed_out'; readonly error: JobFailure }
  | { readonly kind: 'cancelled'; readonly reason?: string; readonly unstarted?: true }
  | { readonly kind: 'failed'; readonly error: JobFailure; readonly unstarted?: true }

/** A job that something else ended, moved or let go. */
export interface JobRef {
  /** Its id. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** Where it stands now. */
  readonly state: JobState
}

/**
 * The answer to one {@link Outcome}.
 *
 * - `applied`: written.
 * - `stale`: the run is not the caller's any more; nothing was written.
 * - `cancel`: the run is the caller's, but a cancel has been requested: nothing was written, and the caller is to send
 *   `cancelled` instead. So whatever a handler returned, the job becomes cancelled, and what follows from that is decided
 *   where all policy is, in the runtime. Never the answer to `cancelled` itself.
 */
export interface FinishResult {
  /** What became of it. */
  readonly state: 'applied' | 'stale' | 'cancel'
  /** Other jobs that the cascade ended. */
  readonly ended: readonly JobRef[]
  /** Other jobs that the cascade let go: their parents, lane or batch no longer hold them. */
  readonly released: readonly JobRef[]
}

/** A claim. It may hand in outcomes: they are finished and the next jobs taken in one round trip. */
export interface ClaimRequest {
  /** Who claims. */
  readonly session: SessionId
  /** From which queue. */
  readonly queue: string
  /** Only these tasks; absent: all. */
  readonly tasks?: readonly string[]
  /** At most this many. 0 claims nothing (and still finishes). */
  readonly limit: number
  /** How long the runs are the claimer's, from now. */
  readonly leaseMs: number
  /** Absent: strictly by priority. */
  readonly weights?: Weights
  /**
   * Only jobs with one of the accepted flags, if any are given, and none with a forbidden one. Needs the facet of its name.
   */
  readonly flags?: { readonly accept?: readonly string[]; readonly forbid?: readonly string[] }
  /** What is finished on the way: at most one outcome per job id. */
  readonly finish?: readonly Outcome[]
}

/** The answer to a {@link ClaimRequest}. */
export interface Claimed {
  /** In order: priority, run time, id. With weights: level by level as they were picked, in order within a level. */
  readonly runs: readonly Run[]
  /** Lines up with `finish`. */
  readonly finished: readonly FinishResult[]
  /**
   * Milliseconds until the next job of the queue falls due, if the store knows; a hint, not a promise. 0 without any runs
   * means that something is due which this call did not get, because another handle was at it: the caller looks again soon
   * and does not take the queue for empty.
   */
  readonly dueInMs?: number
}

/** What a worker says about the work it holds. */
export interface ExtendOptions {
  /** The new length of the leases, from now. A lease is never shortened. Absent: nothing is extended, the call only looks. */
  readonly leaseMs?: number
  /** JSON text by job id, kept until the next. Only the holder of the lease writes it. */
  readonly progress?: ReadonlyMap<JobId, string>
}

/**
 * The state of one lease.
 *
 * - `held`: the caller's.
 * - `lost`: not the caller's any more.
 * - `cancel`: the caller's, and a cancel has been requested.
 * - `paused`: the caller's, and its queue is paused: what has not started goes back, what runs goes on.
 * - `failed`: the caller's, but something decided that the job shall not run (its batch failed fast).
 */
export type LeaseState = { readonly state: 'held' | 'lost' | 'cancel' | 'paused' } | { readonly state: 'failed'; readonly message: string }

/** A request for expired leases. */
export interface ReclaimRequest {
  /** Who reclaims. */
  readonly session: SessionId
  /** At most this many runs. */
  readonly limit: number
  /** Absent: every queue. */
  readonly queues?: readonly string[]
  /** The lease under which the caller holds what it gets, until it has finished it by policy. */
  readonly leaseMs: number
}

/** What a worker tells about itself with each pulse. */
export interface SessionInfo {
  /** Its id, made when it started. */
  readonly id: SessionId
  /** The name of its machine. */
  readonly host: string
  /** The id of its process. */
  readonly pid: number
  /** When it started, in milliseconds since the epoch, by its own clock. */
  readonly startedAt: number
  /** The queues that it serves. */
  readonly queues: readonly string[]
  /** The names of the tasks that it has handlers for. */
  readonly tasks: readonly string[]
  /** Handlers that may run at once, in all its queues together. */
  readonly concurrency: number
  /** Handlers that run. */
  readonly running: number
  /** Jobs that are claimed and have not started. */
  readonly held: number
  /** Queues in which it has free slots and found nothing to do. */
  readonly idle: readonly string[]
  /** The last pulse: the session ends. */
  readonly leaving?: true
}

/** The answer to a pulse. */
export interface Beat {
  /**
   * A counter that grows whenever something happens to a run of this session from outside: a cancel, a retry, a kill. When
   * it differs from the last one seen, the worker looks at all its leases. A lost answer does no harm.
   */
  readonly changes: number
  /** Those of the session's queues that are paused. */
  readonly paused: readonly string[]
  /** Those of the session's queues in which another live session has said that it is idle. */
  readonly wanted: readonly string[]
}

/** A worker that has been heard of. */
export interface SessionRecord extends SessionInfo {
  /** When its last pulse was written down; a store may write down only some of them, at least one in 15 s. */
  readonly seenAt: number
}

/** A bounded piece of housekeeping. */
export interface MaintenancePass {
  /** Who does it. */
  readonly session: SessionId
  /** At most this many rows. */
  readonly limit: number
}

/** What a pass did. */
export interface Maintained {
  /** Jobs whose retention has ended. */
  readonly removed: number
  /** There is more to do: call again soon. */
  readonly more: boolean
}
