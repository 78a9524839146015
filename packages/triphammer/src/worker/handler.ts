import type { Logger } from '../core/logger.ts'
import type { AnyTask, PayloadArgs, Task } from '../core/task.ts'
import type { EnqueueResult, JobId } from '../store/types.ts'

/** What a handler knows of its job. */
export interface HandledJob {
  /** A UUID. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** Lower runs first. */
  readonly priority: number
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** Attempts that it has, at most. */
  readonly maxAttempts: number
  /** When it was enqueued. */
  readonly createdAt: Date
  /** When it was due. */
  readonly runAt: Date
}

/** A transaction in which a job completes: see {@link HandlerContext.commit}. */
export interface CommitTx {
  /** The connection that the transaction runs on, for the handler's own statements. */
  readonly db: unknown
  /** Enqueues a job that exists only if the transaction commits. */
  enqueue<In>(task: Task<In, unknown>, ...args: PayloadArgs<In>): Promise<EnqueueResult>
}

/** What a handler is given. */
export interface HandlerContext<Payload> {
  /** The payload, parsed by the task's schema. */
  readonly payload: Payload
  /** What is known of the job. */
  readonly job: HandledJob
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** Aborted on timeout, cancel, lost lease and forced shutdown; `signal.reason` is a `TriphammerError` that says which. */
  readonly signal: AbortSignal
  /** The worker's log, with the job in every line. */
  readonly log: Logger
  /** Someone has asked that the job be cancelled. */
  readonly cancelRequested: boolean
  /**
   * Shows how far the job is: any JSON value, written down at the worker's next pulse. The last one stays with the job. Once
   * the run has ended, nothing happens.
   *
   * @throws TriphammerError `PAYLOAD_NOT_JSON`, `TEXT_INVALID`, `PAYLOAD_TOO_LARGE`
   */
  progress(value: unknown): void
  /**
   * Enqueues another job, at once, whatever becomes of this one.
   *
   * @throws TriphammerError `LEASE_LOST`: the run has ended, by a timeout, say; and as `jobs.enqueue`
   */
  enqueue<In>(task: Task<In, unknown>, ...args: PayloadArgs<In>): Promise<EnqueueResult>
  /**
   * Completes the job inside a transaction on the store's database: what `work` writes there and the completion land
   * together or not at all, so these effects happen exactly once. Keep it short: other writers may wait.
   *
   * @param work is given the transaction; what it returns is kept as the job's result
   * @returns what `work` returned
   * @throws TriphammerError `LEASE_LOST`, `CANCELLED`: the job is not this run's to complete, or the run has ended, and nothing
   * was written; `WORKER_STATE`: committed already;
   * `TX_UNSUPPORTED`, `TX_NOT_OPEN`
   * @example
   * await ctx.commit((tx) => { (tx.db as Database).prepare('update accounts set …').run(amount) })
   */
  commit<Result>(work: (tx: CommitTx) => Result | Promise<Result>): Promise<Result>
  /**
   * Completes the job inside a transaction of your own, open on the store's database. Commit it before the handler returns: otherwise
   * the attempt has failed (`COMMIT_MISSING`).
   *
   * @param transaction a connection on which a transaction is open
   * @param result the job's result
   * @throws TriphammerError as the other form
   * @example
   * db.exec('begin immediate')
   * db.prepare('update accounts set …').run(amount)
   * await ctx.commit(db)
   * db.exec('commit')
   */
  commit(transaction: object, result?: unknown): Promise<void>
}

/** A task and the function that runs it. */
export interface Handler {
  /** The task. */
  readonly task: AnyTask
  /** The function, called once for each attempt. */
  readonly run: (context: HandlerContext<never>) => unknown
}

/**
 * Binds a function to a task.
 *
 * What it returns is kept as the job's result. Throwing means that the attempt failed and the retry policy decides;
 * `throw discard(reason)`, `throw snooze('5m')` and `throw retryAfter('30s', error)` decide otherwise.
 *
 * Await what the function starts. A rejection that nobody awaits is nobody's failed attempt: Node.js ends the process for it,
 * unless the application listens to `unhandledRejection`, and the library does not meddle with that. A run that has ended
 * (timed out, handed back at a shutdown) is not interrupted: heed `signal`.
 *
 * @example handle(sendEmail, async ({ payload, signal }) => { await smtp.send(payload, { signal }) })
 */
export function handle<In, Out>(task: Task<In, Out>, run: (context: HandlerContext<Out>) => unknown): Handler {
  return { task, run }
}
