import { type Clock, systemClock } from '../core/clock.ts'
import { DEFAULTS } from '../core/defaults.ts'
import { TriphammerError } from '../core/errors.ts'
import { createIds, type Ids } from '../core/ids.ts'
import { type Logger, parseLogger } from '../core/logger.ts'
import { checkInteger, checkOptions } from '../core/options.ts'
import { type JobOutcome, type OutcomeSignal, signalledOutcome } from '../core/outcome.ts'
import type { AnyTask, EnqueueOptions, JobSpec, PayloadArgs, Task } from '../core/task.ts'
import { show } from '../core/text.ts'
import { checkJobOptions, NO_OPTIONS } from '../extend/build-job.ts'
import { createEnqueuer } from '../extend/enqueuer.ts'
import type { EventType, Observer } from '../extend/events.ts'
import { installPlugins, type Plugin } from '../extend/plugin.ts'
import { createSettler } from '../extend/settle.ts'
import type { Migration, Store, StoreTx } from '../store/store.ts'
import type { EnqueueResult } from '../store/types.ts'
import type { ClaimedRun } from './job.ts'
import { createOperations, type Operations } from './operate.ts'
import { createRuns, endRun, type Runs } from './runs.ts'

/** Options of a client. */
export interface ClientOptions {
  readonly store: Store
  /** Of a client their enqueue middleware, observers and follow-ups are at work. */
  readonly plugins?: readonly Plugin[]
  /** Default: warnings and errors on the console. `false`: none. */
  readonly logger?: Logger | false
  /** The most bytes of JSON a payload may have (default 1 MiB). */
  readonly payloadLimit?: number
  /** Time for tests; the store has its own. */
  readonly clock?: Clock
  /** Ids for tests. */
  readonly ids?: Ids
}

/** Putting jobs in. */
export interface Enqueues {
  /**
   * Enqueues a job.
   *
   * @throws TriphammerError for anything wrong with the payload or an option, before anything is written
   * @example const { id, status } = await jobs.enqueue(sendEmail, { to, template: 'welcome' }, { delay: '5m' })
   */
  enqueue<In>(task: Task<In, unknown>, ...args: PayloadArgs<In>): Promise<EnqueueResult>
  /**
   * Enqueues many jobs, all or none; they run in this order, other things being equal. Either payloads of one task with
   * options for all of them, or jobs of any tasks made by `task.with(payload, options)`.
   */
  enqueueMany<In>(task: Task<In, unknown>, payloads: readonly NoInfer<In>[], options?: EnqueueOptions): Promise<readonly EnqueueResult[]>
  enqueueMany(jobs: readonly JobSpec[]): Promise<readonly EnqueueResult[]>
}

/** A client that is bound to a transaction of the user's: what it does exists only if that transaction commits. */
export interface BoundClient extends Enqueues {
  /**
   * Enqueues at once, without awaiting anything: for synchronous drivers, whose transactions cannot await.
   *
   * @throws TriphammerError `FACET_MISSING`, `SYNC_UNSUPPORTED`, and as `enqueue`
   */
  enqueueSync<In>(task: Task<In, unknown>, ...args: PayloadArgs<In>): EnqueueResult
  /** Ends a run that was claimed by hand, together with what else the transaction does. */
  finish(run: ClaimedRun, outcome: JobOutcome | OutcomeSignal): Promise<'applied' | 'stale'>
}

/** What an application enqueues and operates with. It holds no handler. */
export interface Client extends Enqueues, Runs, Operations {
  readonly store: Store
  /**
   * Binds to a transaction of the user's, recognised by its shape.
   *
   * @throws TriphammerError `TX_UNSUPPORTED`, `TX_NOT_OPEN`
   * @example
   * sqliteDb.transaction(() => { insertUser.run(user); jobs.in(sqliteDb).enqueueSync(sendEmail, payload) })()
   */
  in(tx: unknown): BoundClient
  /** A transaction of the store's own; `tx.db` is its connection. Commits when `fn` resolves, rolls back when it rejects. */
  transaction<T>(fn: (tx: StoreTx) => Promise<T>): Promise<T>
  /** Calls `observer` with each event of this client; returns a function that ends this. */
  on<Type extends EventType>(type: Type, observer: Observer<Type>): () => void
  /** Brings the schema up to date and returns the steps taken. */
  migrate(options?: { readonly dryRun?: boolean }): Promise<readonly Migration[]>
  /** Closes the store, for everyone who uses it. */
  close(): Promise<void>
  /** As `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

const CLIENT_KEYS = ['store', 'plugins', 'logger', 'payloadLimit', 'clock', 'ids']

/**
 * Makes a client on a store.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`
 */
export function clientOn(options: ClientOptions): Client {
  checkOptions(options, CLIENT_KEYS, 'createClient')
  const { store, plugins = [], clock = systemClock, payloadLimit = DEFAULTS.payloadBytes } = options
  if (typeof store?.enqueue !== 'function') {
    throw new TriphammerError(
      'INVALID_OPTION',
      `createClient: store: ${show(store)} is not a store; give memory(), sqlite('jobs.db') or the like`,
    )
  }
  const payloadBytes = checkInteger(payloadLimit, 'createClient: payloadLimit', 1)
  const ids = options.ids ?? createIds(clock)
  const log = parseLogger(options.logger, 'createClient')
  const hooks = installPlugins(plugins, { store, clock, log })
  const enqueuer = createEnqueuer({ store, hooks, clock, ids, payloadBytes })
  const settler = createSettler({ store, hooks, clock, log, prepare: enqueuer.prepare })

  return {
    store,
    async enqueue(task, ...[payload, jobOptions]) {
      const [result] = await enqueuer.enqueue([specOf(task, payload, jobOptions)])
      return result!
    },
    enqueueMany: async (first: ManyFirst, payloads?: readonly unknown[], jobOptions?: EnqueueOptions) =>
      enqueuer.enqueue(specsOf(first, payloads, jobOptions)),
    ...createRuns({ store, settler, ids, session: ids.next() }),
    ...createOperations({ store, hooks, clock }),
    in(foreign) {
      const tx = store.adopt(foreign)
      return {
        async enqueue(task, ...[payload, jobOptions]) {
          const [result] = await enqueuer.enqueue([specOf(task, payload, jobOptions)], tx)
          return result!
        },
        enqueueMany: async (first: ManyFirst, payloads?: readonly unknown[], jobOptions?: EnqueueOptions) =>
          enqueuer.enqueue(specsOf(first, payloads, jobOptions), tx),
        enqueueSync: (task, ...[payload, jobOptions]) => enqueuer.enqueueSync([specOf(task, payload, jobOptions)], tx)[0]!,
        finish: (run, outcome) => endRun({ store, settler }, run, signalledOutcome(outcome) ?? (outcome as JobOutcome), tx),
      }
    },
    transaction: (fn) => store.transaction(fn),
    on: (type, observer) => hooks.events.on(type, observer),
    async migrate(migrateOptions = {}) {
      // A misspelt dryRun would migrate.
      checkOptions(migrateOptions, ['dryRun'], 'migrate')
      return store.schema.migrate(migrateOptions)
    },
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  }
}

type ManyFirst = AnyTask | readonly JobSpec[]

function specOf(task: AnyTask, payload: unknown, options: EnqueueOptions | undefined): JobSpec {
  return { task, payload, options: options ?? NO_OPTIONS }
}

function specsOf(first: ManyFirst, payloads: readonly unknown[] | undefined, options: EnqueueOptions | undefined): readonly JobSpec[] {
  if (isSpecs(first)) {
    if (payloads === undefined && options === undefined) return Array.from(first)
    throw new TriphammerError(
      'INVALID_OPTION',
      'enqueueMany: a list of jobs stands alone; give each its own options with task.with(payload, options)',
    )
  }
  if (!Array.isArray(payloads)) {
    throw new TriphammerError('INVALID_OPTION', 'enqueueMany takes a task and a list of payloads, or a list of task.with(payload)')
  }
  if (options?.id !== undefined)
    throw new TriphammerError('INVALID_OPTION', 'enqueueMany: one id cannot be that of many jobs; use task.with(payload, { id })')
  if (options !== undefined) checkJobOptions(options, 'enqueueMany')
  return Array.from(payloads, (payload: unknown) => specOf(first, payload, options))
}

function isSpecs(first: ManyFirst): first is readonly JobSpec[] {
  return Array.isArray(first)
}
