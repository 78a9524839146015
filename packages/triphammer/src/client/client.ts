import { type Clock, systemClock } from '../core/clock.ts'
import { DEFAULTS } from '../core/defaults.ts'
import { TriphammerError } from '../core/errors.ts'
import { createIds, type Ids } from '../core/ids.ts'
import { type Logger, parseLogger } from '../core/logger.ts'
import { checkInteger, checkOptions, checkSwitch } from '../core/options.ts'
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
import { type Diagnosis, diagnose } from './doctor.ts'
import type { ClaimedRun } from './job.ts'
import { createOperations, type Operations } from './operate.ts'
import { createRuns, endRun, type Runs } from './runs.ts'

/** Options of a client. */
export interface ClientOptions {
  /** Where the jobs are. */
  readonly store: Store
  /** Hooks; on a client their enqueue middleware, observers and follow-ups are at work. Default: none. */
  readonly plugins?: readonly Plugin[]
  /** Where warnings and errors go; `false`: nowhere. Default: the console. */
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
   * Enqueues a job. Its payload is checked by the task's schema and stored as it was given.
   *
   * @returns its id, and `inserted`, or `duplicate` if a job with the id that you chose is known already
   * @throws TriphammerError before anything is written: `PAYLOAD_INVALID`, `PAYLOAD_NOT_JSON`, `PAYLOAD_TOO_LARGE`, `TEXT_INVALID`,
   * `INVALID_OPTION`, `INVALID_DURATION`, `INVALID_NAME`, `INVALID_ID`, `UNKNOWN_OPTION`; `STORE_BUSY`, `STORE_UNAVAILABLE`
   * @example const { id, status } = await jobs.enqueue(sendEmail, { to, template: 'welcome' }, { delay: '5m' })
   */
  enqueue<In>(task: Task<In, unknown>, ...args: PayloadArgs<In>): Promise<EnqueueResult>
  /**
   * Enqueues many jobs of one task, all or none; they run in this order, other things being equal.
   *
   * @param options for each of them; no `id`
   * @returns what became of each, in the order of the payloads
   * @throws TriphammerError as `enqueue`, and then none of them is enqueued
   * @example await jobs.enqueueMany(resize, files.map((file) => ({ file })), { priority: 'low' })
   */
  enqueueMany<In>(task: Task<In, unknown>, payloads: readonly NoInfer<In>[], options?: EnqueueOptions): Promise<readonly EnqueueResult[]>
  /**
   * Enqueues jobs of any tasks, all or none.
   *
   * @param jobs made by `task.with(payload, options)`
   * @throws TriphammerError as `enqueue`, and then none of them is enqueued
   * @example await jobs.enqueueMany([sendEmail.with({ to }), resize.with({ file }, { priority: 'low' })])
   */
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
  /** Ends a run that was claimed by hand, together with what else the transaction does. `'stale'`: it is not yours any more. */
  finish(run: ClaimedRun, outcome: JobOutcome | OutcomeSignal): Promise<'applied' | 'stale'>
}

/** What an application enqueues and operates with. It holds no handler. */
export interface Client extends Enqueues, Runs, Operations {
  /** The store it was made on. */
  readonly store: Store
  /**
   * Binds to a transaction of your own, open on the store's database: a connection of its driver, or what `transaction` gives.
   * What is enqueued exists only if that transaction commits. With a synchronous driver use `enqueueSync`.
   *
   * @throws TriphammerError `TX_UNSUPPORTED`: not a connection that this store can use; `TX_NOT_OPEN`: no transaction is open on it
   * @example
   * sqliteDb.transaction(() => { insertUser.run(user); jobs.in(sqliteDb).enqueueSync(sendEmail, payload) })()
   */
  in(tx: unknown): BoundClient
  /**
   * A transaction of the store's own; `tx.db` is its connection. Commits when `fn` resolves, rolls back when it rejects. Other writers
   * may wait meanwhile: keep it short.
   *
   * @throws TriphammerError `STORE_BUSY`, `TX_CONFLICT`; and what `fn` throws
   * @example
   * await jobs.transaction(async (tx) => { await jobs.in(tx).enqueue(sendEmail, { to: await addressOf(user) }) })
   */
  transaction<T>(fn: (tx: StoreTx) => Promise<T>): Promise<T>
  /**
   * Calls `observer` with each event of this client; returns a function that ends this.
   *
   * @throws TriphammerError `INVALID_OPTION`: there is no such event
   * @example jobs.on('job.enqueued', ({ job }) => console.log(job.id))
   */
  on<Type extends EventType>(type: Type, observer: Observer<Type>): () => void
  /**
   * Brings the schema up to date and returns the steps taken; with `dryRun` those that it would take.
   *
   * @throws TriphammerError `SCHEMA_TOO_NEW`
   */
  migrate(options?: { readonly dryRun?: boolean }): Promise<readonly Migration[]>
  /**
   * Looks at the schema, the workers, what waits and why, and at what the store lives on, and says what is wrong and what to do.
   * It changes nothing and never throws for the state of the store: a database that cannot be opened is a finding too. It
   * counts jobs, so it reads as much as `countBy` does.
   *
   * @param options `deep: true` also reads the whole database for damage, where the store can
   * @example const { healthy, findings } = await jobs.doctor()
   */
  doctor(options?: { readonly deep?: boolean }): Promise<Diagnosis>
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
    async doctor(doctorOptions = {}) {
      checkOptions(doctorOptions, ['deep'], 'doctor')
      return diagnose({ store, clock, deep: checkSwitch(doctorOptions.deep ?? false, 'doctor: deep') })
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
