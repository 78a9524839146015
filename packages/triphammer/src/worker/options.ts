import { type Clock, systemClock } from '../core/clock.ts'
import { DEFAULTS } from '../core/defaults.ts'
import { type Duration, parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { createIds, type Ids } from '../core/ids.ts'
import { type Logger, parseLogger } from '../core/logger.ts'
import { checkInteger, checkOptions } from '../core/options.ts'
import { parseWeights, type Weights, type WeightsInput } from '../core/priority.ts'
import type { RetryFunction, RetryPolicy } from '../core/retry.ts'
import { policyOf, type TaskPolicy } from '../core/task.ts'
import { checkName } from '../core/text.ts'
import type { Plugin } from '../extend/plugin.ts'
import type { Store } from '../store/store.ts'
import type { Handler } from './handler.ts'

/** How a worker serves one queue. */
export interface QueueOptions {
  /** Handlers that run at once (default 10). */
  readonly concurrency?: number
  /** Jobs claimed and unfinished, at most (default 10 × concurrency, at most 500). */
  readonly prefetch?: number
  /** How the levels of priority take turns. Default: strictly by priority. */
  readonly weights?: WeightsInput
}

/** Options of a worker. */
export interface WorkerOptions {
  /** Where the jobs are. */
  readonly store: Store
  /** Made by `handle`, one for each task. */
  readonly handlers: readonly Handler[]
  /** Queues and their concurrency or more. Default: the queues of the handlers' tasks, with a concurrency of 10 each. */
  readonly queues?: Readonly<Record<string, number | QueueOptions>>
  /** How long a claimed job is believed alive without a heartbeat (default 60 s). */
  readonly lease?: Duration
  /** Pause between two looks at an empty queue that nothing woke (default 1 s, at least 10 ms). */
  readonly poll?: Duration
  /** How often the worker asks for cancels and pauses (default 1 s, at least 50 ms). */
  readonly pulse?: Duration
  /** How long `stop` waits for running handlers before it aborts them (default 30 s). */
  readonly grace?: Duration
  /** Lowers the attempts of every job; it cannot raise them. Default: as the job says. */
  readonly maxAttempts?: number
  /** When to try again, for jobs and tasks that do not say. Default: exponential from 2 s to 6 h. */
  readonly retry?: RetryPolicy | RetryFunction
  /** The longest an attempt may take, for jobs and tasks that do not say. Default: no limit. */
  readonly timeout?: Duration
  /** Hooks; on a worker all of them are at work, in the order given. Default: none. */
  readonly plugins?: readonly Plugin[]
  /** Where the log goes; `false`: nowhere. Default: warnings and errors on the console. */
  readonly logger?: Logger | false
  /** The most bytes of JSON the payload of a job enqueued by a handler may have (default 1 MiB). */
  readonly payloadLimit?: number
  /** Time for tests; the store has its own. */
  readonly clock?: Clock
  /** Ids for tests. */
  readonly ids?: Ids
}

/** How a worker serves one queue, checked. */
export interface QueueConfig {
  readonly name: string
  readonly concurrency: number
  readonly prefetch: number
  readonly weights?: Weights
}

/** The options of a worker, checked and complete. */
export interface WorkerConfig {
  readonly store: Store
  readonly handlers: ReadonlyMap<string, Handler>
  readonly queues: readonly QueueConfig[]
  readonly leaseMs: number
  readonly pollMs: number
  readonly pulseMs: number
  readonly graceMs: number
  /** maxAttempts, retry and timeout for jobs and tasks that do not say. */
  readonly policy: TaskPolicy
  readonly plugins: readonly Plugin[]
  readonly log: Logger
  readonly payloadBytes: number
  readonly clock: Clock
  readonly ids: Ids
}

const KEYS = [
  ...['store', 'handlers', 'queues', 'lease', 'poll', 'pulse', 'grace', 'maxAttempts', 'retry', 'timeout'],
  ...['plugins', 'logger', 'payloadLimit', 'clock', 'ids'],
]

/**
 * Checks the options of a worker.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`, `INVALID_DURATION`, `INVALID_NAME`, `DUPLICATE_TASK`,
 * `DUPLICATE_HANDLER`, `NO_HANDLER`
 */
export function parseWorkerOptions(options: WorkerOptions): WorkerConfig {
  checkOptions(options, KEYS, 'createWorker')
  const { store, plugins = [], clock = systemClock, payloadLimit = DEFAULTS.payloadBytes } = options
  const { lease = DEFAULTS.leaseMs, poll = DEFAULTS.pollMs, pulse = DEFAULTS.pulseMs, grace = DEFAULTS.graceMs } = options
  const { maxAttempts, retry, timeout } = options
  if (typeof store !== 'object' || store === null) throw new TriphammerError('INVALID_OPTION', 'createWorker: store is missing')
  const handlers = parseHandlers(options.handlers)
  const queues = parseQueues(options.queues ?? queuesOf(handlers))
  checkReach(handlers, queues)
  return {
    store,
    handlers,
    queues,
    leaseMs: parseDuration(lease, 'createWorker: lease', 1),
    pollMs: parseDuration(poll, 'createWorker: poll', 10),
    pulseMs: parseDuration(pulse, 'createWorker: pulse', 50),
    graceMs: parseDuration(grace, 'createWorker: grace'),
    policy: policyOf(
      {
        ...(maxAttempts === undefined ? {} : { maxAttempts }),
        ...(retry === undefined ? {} : { retry }),
        ...(timeout === undefined ? {} : { timeout }),
      },
      'createWorker',
    ),
    plugins,
    log: parseLogger(options.logger, 'createWorker'),
    payloadBytes: checkInteger(payloadLimit, 'createWorker: payloadLimit', 1),
    clock,
    ids: options.ids ?? createIds(clock),
  }
}

function parseHandlers(handlers: readonly Handler[]): ReadonlyMap<string, Handler> {
  if (!Array.isArray(handlers) || handlers.length === 0) {
    throw new TriphammerError('NO_HANDLER', 'createWorker: handlers is empty; give at least one handle(task, function)')
  }
  const byTask = new Map<string, Handler>()
  for (const handler of handlers as readonly Handler[]) {
    if (typeof handler?.run !== 'function' || typeof handler.task?.name !== 'string') {
      throw new TriphammerError('INVALID_OPTION', 'createWorker: handlers must be made by handle(task, function)')
    }
    const { name } = handler.task
    const other = byTask.get(name)
    if (other?.task === handler.task) {
      throw new TriphammerError('DUPLICATE_HANDLER', `task ${name} has two handlers in this worker; keep one`)
    }
    if (other) throw new TriphammerError('DUPLICATE_TASK', `two tasks are named ${name}; rename one, or define the task once and import it`)
    byTask.set(name, handler)
  }
  return byTask
}

function queuesOf(handlers: ReadonlyMap<string, Handler>): Record<string, QueueOptions> {
  return Object.fromEntries([...handlers.values()].map(({ task }) => [task.policy.queue ?? DEFAULTS.queue, {}]))
}

function parseQueues(queues: Readonly<Record<string, number | QueueOptions>>): readonly QueueConfig[] {
  const entries = Object.entries(queues)
  if (entries.length === 0)
    throw new TriphammerError('INVALID_OPTION', 'createWorker: queues is empty; name at least one, such as { default: 10 }')
  return entries.map(([name, given]) => {
    checkName(name, 'createWorker: the name of a queue')
    const what = `createWorker: queue ${name}`
    const options: QueueOptions = typeof given === 'number' ? { concurrency: given } : given
    checkOptions(options, ['concurrency', 'prefetch', 'weights'], what)
    const concurrency = checkInteger(options.concurrency ?? DEFAULTS.concurrency, `${what}: concurrency`, 1, 10_000)
    const usual = Math.max(concurrency, Math.min(DEFAULTS.prefetchFactor * concurrency, DEFAULTS.prefetchMax))
    const prefetch = checkInteger(options.prefetch ?? usual, `${what}: prefetch`, 1, 10_000)
    if (prefetch < concurrency) {
      throw new TriphammerError(
        'INVALID_OPTION',
        `${what}: a prefetch of ${prefetch} would never let ${concurrency} jobs run at once; raise it or lower concurrency`,
      )
    }
    return { name, concurrency, prefetch, ...(options.weights === undefined ? {} : { weights: parseWeights(options.weights) }) }
  })
}

// A task that names no queue may be enqueued into any; one that does will hardly be met elsewhere.
function checkReach(handlers: ReadonlyMap<string, Handler>, queues: readonly QueueConfig[]): void {
  const names = new Set(queues.map(({ name }) => name))
  const tasks = [...handlers.values()].map(({ task }) => task)
  if (tasks.some(({ policy }) => policy.queue === undefined || names.has(policy.queue))) return
  throw new TriphammerError(
    'NO_HANDLER',
    `createWorker: none of the handlers is for a task of the queues ${[...names].join(', ')}; their tasks are in ${tasks.map(({ policy }) => policy.queue).join(', ')}`,
  )
}
