/**
 * Defining tasks, enqueueing jobs, looking at them and changing them. It loads neither a worker nor a driver.
 *
 * @module
 */

import { type Client, type ClientOptions, clientOn } from './client/client.ts'
import { sqlite } from './sqlite.ts'

/** The file of a client that was given no store, below the working directory. */
export const DEFAULT_FILE = '.triphammer/jobs.db'

/**
 * Makes a client: what an application enqueues and operates with. Nothing is opened before the first call.
 *
 * @param options without a `store`: the SQLite file `./.triphammer/jobs.db`
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`
 *
 * @example
 * const jobs = createClient({ store: sqlite('app.db') })
 * await jobs.enqueue(sendEmail, { to: 'a@b.c', template: 'welcome' })
 * await jobs.close()
 */
export function createClient(options: Partial<ClientOptions> = {}): Client {
  return clientOn({ ...options, store: options.store ?? sqlite(DEFAULT_FILE) })
}

export type { BoundClient, Client, ClientOptions, Enqueues } from './client/client.ts'
export type { Diagnosis } from './client/doctor.ts'
export type { JobFilterInput, Target } from './client/filter.ts'
export type { ClaimedRun, Job } from './client/job.ts'
export type { Changed, JobList, ListOptions, Operations, When } from './client/operate.ts'
export type { ClaimOptions, Reclaimed, Runs } from './client/runs.ts'
export type { Clock, Timer } from './core/clock.ts'
export type { Duration } from './core/duration.ts'
export { type ErrorCode, isTriphammerError, TriphammerError } from './core/errors.ts'
export type { JobFailure } from './core/failure.ts'
export type { Ids } from './core/ids.ts'
export type { Instant } from './core/instant.ts'
export type { Logger } from './core/logger.ts'
export {
  cancelled,
  completed,
  dead,
  discard,
  type JobOutcome,
  type OutcomeSignal,
  retry,
  retryAfter,
  snooze,
  timedOut,
} from './core/outcome.ts'
export type { Level, Priority, WeightsInput } from './core/priority.ts'
export {
  type Backoff,
  type BackoffOptions,
  exponential,
  fibonacci,
  fixed,
  linear,
  type RetryFunction,
  type RetryPolicy,
} from './core/retry.ts'
export type { FinalState, JobState } from './core/state.ts'
export {
  type AnyTask,
  defineTask,
  type EnqueueOptions,
  type JobSpec,
  type PayloadArgs,
  type Task,
  type TaskOptions,
  type TaskPolicy,
} from './core/task.ts'
export type { EndEvent, EventJob, Events, EventType, JobEvent, Observer, RunEvent } from './extend/events.ts'
export type { Gate, Grant } from './extend/gate.ts'
export type { EnqueueMiddleware, RunCall, RunMiddleware } from './extend/middleware.ts'
export type { FinishedJob, FollowUp, Plugin, PluginContext, Service } from './extend/plugin.ts'
export type { CountKey, QueueInfo } from './store/admin.ts'
export type { Finding } from './store/health.ts'
export type { Migration, SchemaStatus, Store, StoreTx } from './store/store.ts'
export type { EnqueueResult, LeaseRef, NewJob, Run, SessionRecord } from './store/types.ts'
