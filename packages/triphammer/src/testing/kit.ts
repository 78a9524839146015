import type { Duration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { createIds } from '../core/ids.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import type { Logger } from '../core/logger.ts'
import { type ManualClock, manualClock } from '../core/manual-clock.ts'
import { checkInteger, checkOptions } from '../core/options.ts'
import type { Task } from '../core/task.ts'
import { type Client, createClient, type Store } from '../index.ts'
import { memory } from '../memory.ts'
import { createWorker, type Handler, type Worker, type WorkerOptions } from '../worker.ts'
import { createAssertions, type EnqueuedMatch } from './assertions.ts'
import { createDrain, type Drained, type DrainOptions } from './drain.ts'
import { type Partially, type Stored, type TestJob, toTestJob } from './job.ts'
import type { JobMatch } from './match.ts'
import { createPerform, type Performed, type PerformOptions } from './perform.ts'
import { seededBytes } from './seeded.ts'
import { sharePlugin } from './shared-plugin.ts'
import { createSingleRuns } from './single-runs.ts'

/** Options of {@link createTestKit}. Those of a worker mean what they mean there, by the kit's clock. */
export interface TestKitOptions extends Omit<WorkerOptions, 'store' | 'handlers' | 'poll' | 'pulse' | 'logger' | 'clock' | 'ids'> {
  /** Made by `handle`, one for each task that is to run. Default: none, which is enough to look at what is enqueued. */
  readonly handlers?: readonly Handler[]
  /** Of {@link TestKit.worker} (default 1 m, so that long advances are quick: it learns of jobs that are due all the same). */
  readonly poll?: Duration
  /** Of {@link TestKit.worker} (default 10 s): until then it may not know of a cancel or a pause. */
  readonly pulse?: Duration
  /** Default: no log. */
  readonly logger?: Logger | false
  /** What the clock shows at first (default 2026-01-01T00:00:00Z). */
  readonly start?: Instant
  /** Ids and jitter are the same for the same seed, a whole number (default 0). */
  readonly seed?: number
}

/** The arguments after the task: the payload may be left out where its type allows `undefined`. */
export type PerformArgs<In> = undefined extends In ? [payload?: In, options?: PerformOptions] : [payload: In, options?: PerformOptions]

/** A store in memory, a client and workers on it, and a clock that stands still until it is moved. */
export interface TestKit {
  /** For the code under test, in the place of its own client. */
  readonly jobs: Client
  /** The same store, for more clients and workers. They need the clock as well. */
  readonly store: Store
  /** The time of everything in the kit. What falls due while it moves is run by {@link TestKit.worker} if that is started. */
  readonly clock: ManualClock
  /**
   * A worker as in production, not started: for what `drain` and `perform` leave out, which is several jobs at once, gates,
   * services, shutdown. It serves the queues of its tasks, or those of the option `queues`.
   *
   * @throws TriphammerError `NO_HANDLER`: the kit was made without handlers
   * @example
   * await t.worker.start()
   * await t.clock.advance('1h')
   * await t.worker.idle() // advance() does not wait for handlers that wait for anything but promises
   */
  readonly worker: Worker

  /**
   * The jobs that are in the store at this moment, in the order in which they were enqueued. Whoever enqueued them: what a
   * transaction has not committed is not there. Default: the pending ones, of all tasks.
   *
   * @example const [job] = t.enqueued(sendEmail, { state: 'any' })
   */
  enqueued<In>(task?: Task<In, unknown>, match?: JobMatch): readonly TestJob<Stored<In>>[]
  /**
   * Fails unless there is a job of this task whose payload has what is expected, at every depth: other properties do not
   * matter, a list must fit item by item. By default it must be pending, whether it is due or not.
   *
   * @returns the first that fits
   * @throws AssertionError of `node:assert`; its message lists what there is, and how it differs
   * @example t.assertEnqueued(sendEmail, { to: user.email }, { queue: 'mail', delay: '5m', count: 1 })
   */
  assertEnqueued<In>(task: Task<In, unknown>, payload?: Partially<NoInfer<In>>, match?: EnqueuedMatch): TestJob<Stored<In>>
  /**
   * Fails if there is such a job. Without arguments: if any job is pending.
   *
   * @throws AssertionError of `node:assert`
   */
  assertNotEnqueued<In>(task?: Task<In, unknown>, payload?: Partially<NoInfer<In>>, match?: JobMatch): void
  /**
   * Runs one attempt of a job that exists only for it, by a worker: schema, middleware, time limit, `ctx.commit` and outcome
   * are the real ones. Jobs in the store do not matter to it and are left alone, what the handler enqueues stays in the store,
   * and of the job itself nothing stays: what would have been another attempt does not come. A handler that throws is an
   * outcome, not an error of this call.
   *
   * The clock stands still while the handler works, so a handler that only its time limit ends needs it moved meanwhile.
   *
   * @throws TriphammerError `NO_HANDLER`; `PAYLOAD_INVALID` and the like, as `enqueue`
   * @example
   * const { outcome, error } = await t.perform(charge, { card: 'expired' })
   * @example
   * const running = t.perform(render, film)
   * await t.clock.advance('30s')
   * console.log((await running).outcome) // timed_out, or retry
   */
  perform<In>(task: Task<In, unknown>, ...args: PerformArgs<In>): Promise<Performed>
  /**
   * Runs the jobs that are due, and those that they enqueue, until none is left. One at a time, by priority, run time and id,
   * from all queues but the paused ones. The clock stands still, so a handler may take its real time; with `scheduled` it is
   * moved from one due job to the next, retries and snoozes included. Gates and services of plugins are left out.
   *
   * @throws AssertionError after `limit` runs, when there is more to do
   * @throws TriphammerError `NO_HANDLER`: a job is due that nobody can run; `WORKER_STATE`: the kit's worker is at work
   * @example const { completed, dead } = await t.drain({ scheduled: '1d' })
   */
  drain(options?: DrainOptions): Promise<Drained>
  /** Stops the worker without waiting for its handlers, and closes the store. A kit that is left open keeps no process alive. */
  close(): Promise<void>
  /** As `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

const WORKER_KEYS = ['queues', 'lease', 'poll', 'pulse', 'grace', 'maxAttempts', 'retry', 'timeout', 'plugins', 'logger', 'payloadLimit']

/**
 * Makes a kit for tests of code that enqueues jobs, and of handlers. It works with any test runner, and needs no database.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`, and as `createWorker`
 *
 * @example
 * const t = createTestKit({ handlers })
 * await signUp(user, t.jobs)
 * t.assertEnqueued(sendWelcome, { to: user.email })
 * await t.drain()
 */
export function createTestKit(options: TestKitOptions = {}): TestKit {
  checkOptions(options, ['handlers', ...WORKER_KEYS, 'start', 'seed'], 'createTestKit')
  const { handlers = [], start, seed = 0, plugins = [], logger = false, queues, poll = '1m', pulse = '10s', ...workerOptions } = options
  checkInteger(seed, 'createTestKit: seed', 0)
  checkList(handlers, 'createTestKit: handlers')
  checkList(plugins, 'createTestKit: plugins')
  const time = manualClock(...(start === undefined ? [] : [parseInstant(start, 'createTestKit: start')]))
  // The store makes tokens: they must not shift the ids of jobs.
  const ids = createIds(time, seededBytes(seed))
  const store = memory({ clock: time, ids: createIds(time, seededBytes(seed + 1)) })
  const { payloadLimit } = options
  const client = { logger, clock: time, ids, ...(payloadLimit === undefined ? {} : { payloadLimit }) }
  const ofClient = plugins.map((plugin) => sharePlugin(plugin, store))
  const ofWorker = plugins.map((plugin) => sharePlugin(plugin, store))
  const jobs = createClient({ ...client, store, plugins: ofClient.map(({ whole }) => whole) })
  const common = { ...workerOptions, handlers, store, logger, clock: time, ids }
  const worker = workerOf({
    ...common,
    poll,
    pulse,
    plugins: ofWorker.map(({ whole }) => whole),
    ...(queues === undefined ? {} : { queues }),
  })

  const byTask = new Map(handlers.map((handler) => [handler.task.name, handler]))
  const singleRuns = createSingleRuns({ ...common, plugins: ofWorker.map(({ hooksOnly }) => hooksOnly) })
  const perform = createPerform({ store, handlers: byTask, singleRuns, client: { ...client, plugins: ofClient.map(({ whole }) => whole) } })
  const drain = createDrain({ store, clock: time, jobs, handlers: byTask, singleRuns })
  const assertions = createAssertions(() => store.snapshot().map(toTestJob))
  const close = async (): Promise<void> => {
    await worker.stopNow(time)
    await store.close()
  }
  return {
    jobs,
    store,
    clock: {
      ...time,
      async advance(by) {
        await singleRuns.released()
        await time.advance(by)
      },
    },
    get worker() {
      return worker.get()
    },
    ...(assertions as Pick<TestKit, keyof typeof assertions>),
    perform: (task, ...[payload, performOptions]) => perform(task, payload, performOptions),
    async drain(drainOptions) {
      worker.refuseWhileWorking()
      return drain(drainOptions)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function checkList(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new TriphammerError('INVALID_OPTION', `${what} must be a list`)
}

interface KitWorker {
  get(): Worker
  refuseWhileWorking(): void
  stopNow(clock: ManualClock): Promise<void>
}

// Made at once, so that what is wrong with its options is told at once; a kit without handlers can have none.
function workerOf(options: WorkerOptions): KitWorker {
  const worker = options.handlers.length === 0 ? undefined : createWorker(options)
  let isWorking = false
  worker?.on('worker.started', () => (isWorking = true))
  worker?.on('worker.stopped', () => (isWorking = false))
  return {
    get() {
      if (worker) return worker
      throw new TriphammerError('NO_HANDLER', 'a worker needs handlers; give createTestKit({ handlers }) at least one')
    },
    refuseWhileWorking() {
      if (!isWorking) return
      throw new TriphammerError('WORKER_STATE', 'drain: the worker of the kit is at work; await t.worker.idle(), or stop it first')
    },
    async stopNow(clock) {
      if (!worker) return
      let isStopped = false
      const done = (): void => {
        isStopped = true
      }
      const stopping = worker.stop({ grace: 0 })
      stopping.then(done, done)
      while (!isStopped) await clock.advance('1s') // what a stop waits for, it waits for by the clock
      await stopping
    },
  }
}
