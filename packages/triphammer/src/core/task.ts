import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Duration, parseDuration } from './duration.ts'
import { TriphammerError } from './errors.ts'
import type { Instant } from './instant.ts'
import { checkInteger, checkOptions } from './options.ts'
import { type Priority, parsePriority } from './priority.ts'
import { checkRetryPolicy, type RetryFunction, type RetryPolicy } from './retry.ts'
import { checkName } from './text.ts'

/** What can be said about a single job. All of it is optional; what is left out comes from the task, then the defaults. */
export interface EnqueueOptions {
  /** The job's id, a UUID. A second job with an id that the store still knows is a `duplicate`. Default: a new UUIDv7. */
  readonly id?: string
  /** Default: the task's, else `'default'`. */
  readonly queue?: string
  /** Lower runs first. Default: the task's, else normal (0). */
  readonly priority?: Priority
  /** Runs this long from now at the earliest, by the store's clock. Not together with `runAt`. */
  readonly delay?: Duration
  /** Runs at this moment at the earliest. The past is allowed: the job takes its place among those that were due then. */
  readonly runAt?: Instant
  /** Attempts, not retries: 1 means run once. Default: the task's, else 25. */
  readonly maxAttempts?: number
  /** The longest an attempt may take. Default: the task's, else the worker's, else none. */
  readonly timeout?: Duration
  /** When to try again. Default: the task's, else the worker's, else exponential from 2 s to 6 h. */
  readonly retry?: RetryPolicy
  /** How long the job is kept after it completed; `false` forgets it at once. Default: the task's, else 7 days. */
  readonly retain?: Duration | false
}

/** What can be said about every job of a task. */
export interface TaskOptions {
  /** Where its jobs go unless they say otherwise. Default: `'default'`. */
  readonly queue?: string
  /** Lower runs first. Default: normal (0). */
  readonly priority?: Priority
  /** Attempts, not retries: 1 means run once. Default: 25. */
  readonly maxAttempts?: number
  /** The longest an attempt may take. Default: the worker's, else none. */
  readonly timeout?: Duration
  /** When to try again. Default: the worker's, else exponential from 2 s to 6 h. A policy, or a function of the attempt and the error, which only workers that handle this task can ask. */
  readonly retry?: RetryPolicy | RetryFunction
  /** How long a job is kept after it completed; `false` forgets it at once. Default: 7 days. */
  readonly retain?: Duration | false
}

/** The policy of a task, checked and in milliseconds. What the task did not say is absent. */
export interface TaskPolicy {
  /** Where its jobs go. */
  readonly queue?: string
  /** The number of its priority; lower runs first. */
  readonly priority?: number
  /** Attempts, not retries. */
  readonly maxAttempts?: number
  /** The longest an attempt may take. */
  readonly timeoutMs?: number
  /** When to try again. */
  readonly retry?: RetryPolicy | RetryFunction
  /** How long a completed job is kept; 0 forgets it at once. */
  readonly retainMs?: number
}

/** A job in the making: what `task.with(...)` returns and `enqueueMany` takes. */
export interface JobSpec {
  /** The task it is of. */
  readonly task: AnyTask
  /** As it was given; checked when the job is enqueued. */
  readonly payload: unknown
  /** What is said about this job alone. */
  readonly options: EnqueueOptions
}

/** The arguments after the task: the payload may be left out where its type allows `undefined`. */
export type PayloadArgs<In> = undefined extends In ? [payload?: In, options?: EnqueueOptions] : [payload: In, options?: EnqueueOptions]

/**
 * A named kind of work, with the type of its payload and its policy. It holds no handler, so producers can import it
 * without the code that does the work.
 *
 * @typeParam In the payload as it is enqueued
 * @typeParam Out the payload as the handler sees it, after the schema has parsed it
 */
export interface Task<In, Out> {
  /** Unique among the tasks of an application. */
  readonly name: string
  /** The schema of the payload, if it has one. */
  readonly input?: StandardSchemaV1<In, Out>
  /** What holds for each of its jobs. */
  readonly policy: TaskPolicy
  /**
   * A job of this task, to be enqueued together with jobs of others.
   *
   * @example await jobs.enqueueMany([sendEmail.with({ to: 'a@b.c' }), resize.with({ file: 'cat.png' }, { priority: 'low' })])
   */
  with(...args: PayloadArgs<In>): JobSpec
}

/** Any task. */
export type AnyTask = Task<unknown, unknown>

const TASK_KEYS = ['input', 'queue', 'priority', 'maxAttempts', 'timeout', 'retry', 'retain']

/**
 * Defines a task.
 *
 * @param name unique among the tasks of an application; 1 to 128 characters
 * @param options `input` is any Standard Schema (Zod, Valibot, ArkType …): the payload is checked at enqueue, and checked
 * and parsed before the handler runs. What is stored is the payload as it was given.
 * @throws TriphammerError `INVALID_NAME`, `UNKNOWN_OPTION`, `INVALID_OPTION`, `INVALID_DURATION`
 *
 * @example
 * export const sendEmail = defineTask('send_email', {
 *   input: z.object({ to: z.string(), template: z.string() }),
 *   queue: 'mail', priority: 'high', maxAttempts: 10, timeout: '30s',
 *   retry: exponential({ base: '2s', max: '10m', jitter: 0.2 }),
 * })
 */
export function defineTask<Schema extends StandardSchemaV1>(
  name: string,
  options: TaskOptions & { readonly input: Schema },
): Task<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>>
export function defineTask<Payload = unknown>(name: string, options?: TaskOptions): Task<Payload, Payload>
export function defineTask(name: string, options: TaskOptions & { readonly input?: StandardSchemaV1 } = {}): AnyTask {
  checkName(name, 'the name of a task')
  const what = `task ${name}`
  checkOptions(options, TASK_KEYS, what)
  checkSchema(options.input, what)
  const task: AnyTask = {
    name,
    ...(options.input === undefined ? {} : { input: options.input }),
    policy: Object.freeze(policyOf(options, what)),
    with: (payload?: unknown, jobOptions: EnqueueOptions = {}) => ({ task, payload, options: jobOptions }),
  }
  return Object.freeze(task)
}

/**
 * Checks the policy that tasks and jobs share and turns it into numbers.
 *
 * @throws TriphammerError `INVALID_NAME`, `INVALID_OPTION`, `INVALID_DURATION`
 */
export function policyOf(options: TaskOptions, what: string): TaskPolicy {
  const { queue, priority, maxAttempts, timeout, retry, retain } = options
  return {
    ...(queue === undefined ? {} : { queue: checkName(queue, `${what}: the name of the queue`) }),
    ...(priority === undefined ? {} : { priority: parsePriority(priority, `${what}: priority`) }),
    ...(maxAttempts === undefined ? {} : { maxAttempts: checkInteger(maxAttempts, `${what}: maxAttempts`, 1, 32_767) }),
    ...(timeout === undefined ? {} : { timeoutMs: parseDuration(timeout, `${what}: timeout`, 1) }),
    ...(retry === undefined ? {} : { retry: checkRetry(retry, what) }),
    ...(retain === undefined ? {} : { retainMs: retain === false ? 0 : parseDuration(retain, `${what}: retain`) }),
  }
}

function checkRetry<Retry extends RetryPolicy | RetryFunction>(retry: Retry, what: string): Retry {
  if (typeof retry !== 'function') checkRetryPolicy(retry, `${what}: retry`)
  return retry
}

function checkSchema(input: unknown, what: string): void {
  if (input === undefined) return
  const isObject = (typeof input === 'object' && input !== null) || typeof input === 'function'
  if (isObject && '~standard' in input) return
  throw new TriphammerError('INVALID_OPTION', `${what}: input is not a Standard Schema; Zod, Valibot and ArkType schemas are`)
}
