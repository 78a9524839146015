import type { AdminStore } from './admin.ts'
import type { Facets } from './facets.ts'
import type {
  Beat,
  Claimed,
  ClaimRequest,
  EnqueueResult,
  ExtendOptions,
  FinishResult,
  LeaseRef,
  LeaseState,
  Maintained,
  MaintenancePass,
  NewJob,
  Outcome,
  ReclaimRequest,
  Run,
  SessionInfo,
  StoreTx,
} from './types.ts'

export type { StoreTx } from './types.ts'

/** What a store says about itself. */
export interface StoreInfo {
  /** `memory`, `sqlite`, `postgres`, `mysql`, `graphile`. */
  readonly name: string
  /** Whose clock decides: the database's, or one that was injected. */
  readonly clock: 'database' | 'injected'
  /** How many calls can be under way at once; 1 where they wait for each other. */
  readonly connections: number
}

/** A step of a schema. */
export interface Migration {
  /** Its number, in the order in which steps are taken. */
  readonly id: number
  /** What it is about. */
  readonly name: string
  /** A library that does not know this step must not run on a schema that has it. */
  readonly breaking: boolean
  /** The statements, for people who want to see them first. */
  readonly sql: string
}

/** How far a schema is. */
export interface SchemaStatus {
  /** Steps that the database has. */
  readonly applied: readonly Omit<Migration, 'sql'>[]
  /** Steps that `migrate` would take. */
  readonly pending: readonly Migration[]
  /** Steps that this library does not know: the schema is newer than the library. */
  readonly unknown: readonly Omit<Migration, 'sql'>[]
}

/** The schema of a store. A store without one (memory) has nothing pending. */
export interface Schema {
  /** Looks, and changes nothing. */
  status(): Promise<SchemaStatus>
  /**
   * Applies what is pending and returns it. Two processes may do so at once. With `dryRun` nothing is applied.
   *
   * @throws TriphammerError `SCHEMA_TOO_NEW`: the schema has a breaking step that this library does not know
   */
  migrate(options?: { readonly dryRun?: boolean }): Promise<readonly Migration[]>
}

/**
 * Where jobs live: a few verbs with exact semantics. `docs/architecture.md` numbers the invariants that every store keeps;
 * the contracts in `conformance/` test them.
 *
 * Every verb is atomic. Result arrays line up with inputs. A job that is missing, taken away or in another state is a
 * result, never an error: a verb rejects only when the store cannot be used (`STORE_UNAVAILABLE`, `STORE_BUSY`, `STORE_REFUSED`,
 * `SCHEMA_MISSING`, `SCHEMA_TOO_NEW`, `STORE_CLOSED`).
 */
export interface Store {
  /** What it says about itself. */
  readonly info: StoreInfo
  /** What this store can do beyond the verbs. An ability is present or absent; a feature asks when it is installed. */
  readonly facets: Partial<Facets>
  /** Its tables. */
  readonly schema: Schema
  /** For people and tools; a worker never uses it. */
  readonly admin: AdminStore

  /**
   * The user's own transaction, recognised by its shape.
   *
   * @throws TriphammerError `TX_UNSUPPORTED`: not a connection of this store's kind, or of another database;
   * `TX_NOT_OPEN`: no transaction is open on it. A store that has to ask its server for that says so not here but at the
   * first verb that uses the transaction.
   */
  adopt(foreign: unknown): StoreTx
  /**
   * Runs `fn` in a transaction of the store's own: committed when it resolves, rolled back when it rejects.
   *
   * @throws TriphammerError `TX_CONFLICT`: what the transaction did no longer holds; nothing of it was written
   */
  transaction<T>(fn: (tx: StoreTx) => Promise<T>): Promise<T>

  /**
   * Writes jobs, all or none, and answers for each in the order given. A job whose id is there already stays as it is and is a
   * `duplicate`. With `tx`, as part of that transaction.
   */
  enqueue(jobs: readonly NewJob[], tx?: StoreTx): Promise<readonly EnqueueResult[]>

  /**
   * Finishes `request.finish` and claims the next jobs of a queue. Lease, attempt and start are written in one step. A
   * paused queue gives nothing. A job finished in the same call is not claimed by it. A short answer does not prove that
   * the queue is empty.
   */
  claim(request: ClaimRequest): Promise<Claimed>

  /** Extends leases, or only looks at them. Waits for nobody: a lease whose row is busy is `held`. */
  extend(leases: readonly LeaseRef[], options: ExtendOptions): Promise<readonly LeaseState[]>

  /**
   * Writes outcomes, each fenced by its lease: at most one per job id. With `tx`, as part of that transaction.
   *
   * `retry` keeps the attempt and the error; `snooze` and `release` refund the attempt; the rest end the job. Unsuccessful
   * and cancelled jobs are kept until they are purged, completed ones as long as `retainMs` says.
   */
  finish(outcomes: readonly Outcome[], tx?: StoreTx): Promise<readonly FinishResult[]>

  /**
   * Takes runs whose leases have expired and leases them to the caller: the same attempt, a new token. The caller ends each
   * through `finish`, so that policy stays in one place.
   *
   * A store that could not be written for a while may give nothing for a bounded time afterwards: the leases of live workers
   * have run out as well then, and they are about to extend them.
   */
  reclaim(request: ReclaimRequest): Promise<readonly Run[]>

  /** A worker's pulse: registers it and answers whether something of it changed. No lease depends on it. */
  beat(session: SessionInfo): Promise<Beat>

  /** A bounded, idempotent piece of housekeeping: retention, dead sessions, whatever the store needs. */
  maintain(pass: MaintenancePass): Promise<Maintained>

  /** Releases what the store holds; every later call rejects with `STORE_CLOSED`. Idempotent. */
  close(): Promise<void>
}
