import { isPromise } from 'node:util/types'
import type { Clock } from '../core/clock.ts'
import { TriphammerError } from '../core/errors.ts'
import type { JobFailure } from '../core/failure.ts'
import type { Logger } from '../core/logger.ts'
import type { FinalState } from '../core/state.ts'
import type { JobSpec } from '../core/task.ts'
import { show } from '../core/text.ts'
import type { Store } from '../store/store.ts'
import type { JobId } from '../store/types.ts'
import { createEventBus, type EventBus, type EventType, type Observer } from './events.ts'
import type { Gate } from './gate.ts'
import type { EnqueueMiddleware, RunMiddleware } from './middleware.ts'

/** A job that ends, as a follow-up sees it, just before that is written. */
export interface FinishedJob {
  /** Its id. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** What it ends as. */
  readonly state: FinalState
  /** The number of its last attempt, from 1. */
  readonly attempt: number
  /** JSON text. */
  readonly payload: string
  /** What the handler returned, as JSON text. */
  readonly result?: string
  /** Why it did not complete. */
  readonly error?: JobFailure
}

/**
 * A pure function from a job that ends to new jobs, which are written in the finishing transaction: a webhook or a stream
 * delivery so survives a crash as an ordinary job. It may be called more than once for one ending. Should it throw, the job
 * ends without its follow-up, and that is logged as an error.
 */
export type FollowUp = (finished: FinishedJob) => readonly JobSpec[]

/** Something that runs beside a worker from its start to its stop. When it fails it is started again, with backoff. */
export interface Service {
  /** For the log. */
  readonly name: string
  /** Resolves soon after the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** What a plugin gets hold of: hooks, never the worker. */
export interface PluginContext {
  /** The store of the client or the worker. */
  readonly store: Store
  /** Its clock. */
  readonly clock: Clock
  /** Its log. */
  readonly log: Logger
  /** Wraps every enqueue; the first that is registered is the outermost. */
  enqueue(middleware: EnqueueMiddleware): void
  /** Wraps every run; the first that is registered is the outermost. */
  run(middleware: RunMiddleware): void
  /** Observes events of one type. @throws TriphammerError `INVALID_OPTION`: there is no such event */
  on<Type extends EventType>(type: Type, observer: Observer<Type>): void
  /** Adds jobs to every job that ends. */
  followUp(followUp: FollowUp): void
  /** Lowers how much a worker claims. */
  gate(gate: Gate): void
  /** Runs beside a worker. */
  service(service: Service): void
}

/**
 * A bundle of hooks. On a client its enqueue middleware, its observers and its follow-ups are at work; on a worker all are.
 *
 * @example
 * const audit: Plugin = { name: 'audit', setup: ({ on, log }) => on('job.dead', ({ job, error }) => log.error({ job, error }, 'dead')) }
 */
export interface Plugin {
  /** For messages. */
  readonly name: string
  /** Registers the hooks, at once: one that is asynchronous is refused. What it throws, `createClient` or `createWorker` throws. */
  setup(context: PluginContext): void
}

/** The hooks of all plugins, in the order in which they were registered. */
export interface Hooks {
  readonly enqueue: readonly EnqueueMiddleware[]
  readonly run: readonly RunMiddleware[]
  readonly followUps: readonly FollowUp[]
  readonly gates: readonly Gate[]
  readonly services: readonly Service[]
  readonly events: EventBus
}

/**
 * Sets plugins up and collects their hooks.
 *
 * @throws TriphammerError `INVALID_OPTION`: not a list of plugins, or one whose setup is asynchronous; and what a setup throws
 */
export function installPlugins(
  plugins: readonly Plugin[],
  context: { readonly store: Store; readonly clock: Clock; readonly log: Logger },
): Hooks {
  const enqueue: EnqueueMiddleware[] = []
  const run: RunMiddleware[] = []
  const followUps: FollowUp[] = []
  const gates: Gate[] = []
  const services: Service[] = []
  const events = createEventBus(context.log)
  if (!Array.isArray(plugins)) throw new TriphammerError('INVALID_OPTION', 'plugins must be a list')
  for (const plugin of plugins as readonly Plugin[]) {
    if (typeof plugin?.setup !== 'function') {
      throw new TriphammerError('INVALID_OPTION', `plugins: ${show(plugin)} is not a plugin; give an object such as { name, setup }`)
    }
    const returned: unknown = plugin.setup({
      ...context,
      enqueue: (middleware) => void enqueue.push(middleware),
      run: (middleware) => void run.push(middleware),
      on: (type, observer) => void events.on(type, observer),
      followUp: (followUp) => void followUps.push(followUp),
      gate: (gate) => void gates.push(gate),
      service: (service) => void services.push(service),
    })
    if (isPromise(returned)) {
      returned.catch(() => {})
      throw new TriphammerError(
        'INVALID_OPTION',
        `plugins: the setup of ${show(plugin.name)} is asynchronous; its hooks must be there when it returns, so register them at once`,
      )
    }
  }
  return { enqueue, run, followUps, gates, services, events }
}
