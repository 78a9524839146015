import type { Logger } from '../core/logger.ts'
import type { AnyTask, PayloadArgs, Task } from '../core/task.ts'
import type { EnqueueResult, JobId } from '../store/types.ts'

/** What a handler knows of its job. */
export interface HandledJob {
  readonly id: JobId
  readonly task: string
  readonly queue: string
  readonly priority: number
  /** The number of this attempt, from 1. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly createdAt: Date
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
   * Shows how far the job is: any JSON value, written down at the worker's next pulse. The last one stays with the job.
   *
   * @throws TriphammerError `PAYLOAD_NOT_JSON`, `TEXT_INVALID`, `PAYLOAD_TOO_LARGE`
   */
  progress(value: unknown): void
  /** Enqueues another job, at once, whatever becomes of this one. */
  enqueue<In>(task: Task<In, unknown>, ...args: PayloadArgs<In>): Promise<EnqueueResult>
  /**
   * Completes the job inside a transaction on the store's database: what `work` writes there and the completion land
   * together or not at all, so these effects happen exactly once. Keep it short: other writers may wait.
   *
   * @param work a function that is given the transaction and whose result is kept as the job's; or a transaction of your
   * own, open on the same database, in which the completion is written and which you then commit before the handler returns
   * @param result with a transaction of your own: the job's result
   * @returns what `work` returned
   * @throws TriphammerError `LEASE_LOST`, `CANCELLED`: the job is not this run's to complete, and nothing was written;
   * `TX_UNSUPPORTED`, `TX_NOT_OPEN`
   * @example
   * await ctx.commit((tx) => { (tx.db as Database).prepare('update accounts set …').run(amount) })
   */
  commit<Result>(work: (tx: CommitTx) => Result | Promise<Result>): Promise<Result>
  commit(transaction: object, result?: unknown): Promise<void>
}

/** A task and the function that runs it. */
export interface Handler {
  readonly task: AnyTask
  readonly run: (context: HandlerContext<never>) => unknown
}

/**
 * Binds a function to a task.
 *
 * What it returns is kept as the job's result. Throwing means that the attempt failed and the retry policy decides;
 * `throw discard(reason)`, `throw snooze('5m')` and `throw retryAfter('30s', error)` decide otherwise.
 *
 * @example handle(sendEmail, async ({ payload, signal }) => { await smtp.send(payload, { signal }) })
 */
export function handle<In, Out>(task: Task<In, Out>, run: (context: HandlerContext<Out>) => unknown): Handler {
  return { task, run }
}
