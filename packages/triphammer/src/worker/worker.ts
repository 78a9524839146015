import { type Duration, parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { checkOptions } from '../core/options.ts'
import { createEnqueuer } from '../extend/enqueuer.ts'
import type { EventType, Observer } from '../extend/events.ts'
import { installPlugins } from '../extend/plugin.ts'
import { createSettler } from '../extend/settle.ts'
import { parseWorkerOptions, type WorkerOptions } from './options.ts'
import { createSession, type Session } from './session.ts'
import { heedSignals } from './shutdown.ts'

/** What a worker is doing now. */
export interface WorkerStats {
  /** Claimed and not yet started. */
  readonly held: number
  /** Handlers that run. */
  readonly running: number
  /** Handlers started since the last start. */
  readonly started: number
  /** How many times an observer has thrown. */
  readonly observerFailures: number
}

/**
 * A process-wide runtime that claims jobs and runs their handlers.
 *
 * It keeps going while the store is away. It may be started again after it has stopped.
 */
export interface Worker {
  /**
   * Starts to work. Resolves once the store has answered, or is known to be away.
   *
   * @throws TriphammerError `WORKER_STATE`: started already; `SCHEMA_MISSING`, `SCHEMA_TOO_NEW`, `NOT_A_DATABASE`,
   * `DRIVER_MISSING`, `STORE_CLOSED`
   */
  start(): Promise<void>
  /**
   * Stops: takes no more jobs, gives back at once what has not started, waits up to `grace` for running handlers, then
   * aborts their signals and gives back, attempt refunded, what still does not end. Calling it again cuts the wait short. A
   * worker that does not run has nothing to stop.
   */
  stop(options?: { readonly grace?: Duration }): Promise<void>
  /**
   * Works until SIGTERM or SIGINT, then stops; a second signal forces. Rejects if an error ended the worker.
   *
   * @param options `signals: false` leaves the process's signals alone: works until `stop` is called
   * @throws TriphammerError as {@link Worker.start}, and what ended the worker later
   */
  run(options?: { readonly signals?: boolean }): Promise<void>
  /**
   * Works until nothing is left to do right now, then stops. Future jobs and later retries are not waited for.
   *
   * @returns how many handlers were started
   * @throws TriphammerError as {@link Worker.start}
   */
  runOnce(): Promise<{ readonly started: number }>
  /** Resolves when nothing is in hand and nothing is left to do right now. */
  idle(): Promise<void>
  /**
   * Calls `observer` with each event of this worker; returns a function that ends this.
   *
   * @throws TriphammerError `INVALID_OPTION`: there is no such event
   * @example worker.on('job.dead', ({ job, error }) => alert(job.task, error.message))
   */
  on<Type extends EventType>(type: Type, observer: Observer<Type>): () => void
  /** What it is doing now. */
  stats(): WorkerStats
  /** As `stop()`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Makes a worker.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`, `INVALID_DURATION`, `INVALID_NAME`, `DUPLICATE_TASK`,
 * `DUPLICATE_HANDLER`, `NO_HANDLER`
 *
 * @example
 * const worker = createWorker({ store, handlers: [handle(sendEmail, send)], queues: { mail: 20 } })
 * await worker.run()
 */
export function createWorker(options: WorkerOptions): Worker {
  const config = parseWorkerOptions(options)
  const { store, clock, ids, log, payloadBytes } = config
  const hooks = installPlugins(config.plugins, { store, clock, log })
  const enqueuer = createEnqueuer({ store, hooks, clock, ids, payloadBytes })
  const settler = createSettler({ store, hooks, clock, log, prepare: enqueuer.prepare })
  let session: Session | undefined

  const begin = async (): Promise<Session> => {
    if (session) throw new TriphammerError('WORKER_STATE', 'the worker has been started already; stop it first')
    const own = createSession({ config, hooks, enqueuer, settler })
    const forget = (): void => {
      if (session === own) session = undefined
    }
    session = own
    own.ended.then(forget, forget)
    try {
      await own.start()
    } catch (error) {
      forget()
      throw error
    }
    return own
  }
  const stop = async (graceMs: number): Promise<void> => {
    await session?.stop(graceMs)
  }

  const worker: Worker = {
    async start() {
      await begin()
    },
    async stop(stopOptions = {}) {
      checkOptions(stopOptions, ['grace'], 'stop')
      const { grace = config.graceMs } = stopOptions
      await stop(parseDuration(grace, 'stop: grace'))
    },
    async run(runOptions = {}) {
      checkOptions(runOptions, ['signals'], 'run')
      const { signals = true } = runOptions
      const work = begin().then((own) => own.ended)
      await (signals ? heedSignals(work, () => stop(config.graceMs)) : work)
    },
    async runOnce() {
      const own = await begin()
      await own.idle()
      const { started } = own.counts()
      // Who has stopped it meanwhile has said how long its handlers may take: a second stop would cut that short.
      if (!own.stopping) await own.stop(config.graceMs)
      await own.ended
      return { started }
    },
    async idle() {
      await session?.idle()
    },
    on: (type, observer) => hooks.events.on(type, observer),
    stats: () => ({ ...(session?.counts() ?? { held: 0, running: 0, started: 0 }), observerFailures: hooks.events.failures }),
    [Symbol.asyncDispose]: () => stop(config.graceMs),
  }
  return worker
}
