import { TriphammerError } from '../core/errors.ts'
import { encodeJson } from '../core/json.ts'
import type { Logger } from '../core/logger.ts'
import type { AnyTask, EnqueueOptions } from '../core/task.ts'
import { NO_OPTIONS } from '../extend/build-job.ts'
import type { Enqueuer } from '../extend/enqueuer.ts'
import type { EnqueueResult } from '../store/types.ts'
import type { Attempt } from './attempt.ts'
import type { HandledJob, HandlerContext } from './handler.ts'
import type { WorkerConfig } from './options.ts'

/** What {@link createContext} works with. */
export interface ContextOptions {
  readonly config: WorkerConfig
  readonly enqueuer: Enqueuer
  readonly attempt: Attempt
  readonly payload: unknown
}

/** The context of a handler. Its members work when taken apart, and cost nothing until they are asked for. */
export function createContext(options: ContextOptions): HandlerContext<unknown> {
  return new Context(options)
}

class Context implements HandlerContext<unknown> {
  readonly payload: unknown
  readonly attempt: number
  readonly #options: ContextOptions

  constructor(options: ContextOptions) {
    this.#options = options
    this.payload = options.payload
    this.attempt = options.attempt.run.attempt
  }

  get job(): HandledJob {
    const { id, task, queue, priority, attempt, maxAttempts, createdAt, runAt } = this.#options.attempt.run
    return { id, task, queue, priority, attempt, maxAttempts, createdAt: new Date(createdAt), runAt: new Date(runAt) }
  }

  get signal(): AbortSignal {
    return this.#options.attempt.signal
  }

  get log(): Logger {
    return this.#options.attempt.log
  }

  get cancelRequested(): boolean {
    return this.#options.attempt.cancelRequested
  }

  get progress(): (value: unknown) => void {
    const { attempt, config } = this.#options
    return (value) => {
      if (attempt.settled) return
      attempt.progress = encodeJson(value, 'the progress', config.store.facets.results?.maxBytes ?? config.payloadBytes)
    }
  }

  get enqueue(): (task: AnyTask, payload?: unknown, options?: EnqueueOptions) => Promise<EnqueueResult> {
    const { attempt, enqueuer } = this.#options
    return async (task, payload, options = NO_OPTIONS) => {
      if (attempt.settled) {
        throw new TriphammerError('LEASE_LOST', `the run of job ${attempt.run.id} has ended; nothing was enqueued`)
      }
      return (await enqueuer.enqueue([{ task, payload, options }]))[0]!
    }
  }

  get commit(): HandlerContext<unknown>['commit'] {
    return this.#options.attempt.commit.commit
  }
}
