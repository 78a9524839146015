import type { HealthFacet } from './health.ts'
import type { EnqueueResult, NewJob, StoreTx } from './types.ts'

/**
 * Abilities beyond the verbs, each present in a store or absent. There is no method per feature on the store and no boolean
 * per database: a feature that needs an ability asks for it when it is installed and fails with `FACET_MISSING`.
 */
export interface Facets {
  /** Tells when there may be work. */
  readonly wakeups: WakeupsFacet
  /** Enqueues without awaiting anything. */
  readonly sync: SyncFacet
  /** Keeps results and progress. */
  readonly results: ResultsFacet
  /** It can look at what it lives on. */
  readonly health: HealthFacet
}

/** The store can tell when there may be work, sooner than polling would. */
export interface WakeupsFacet {
  /**
   * Calls `wake` when something may have changed in one of the queues: from this process or another, coalesced, sometimes
   * for nothing, and sometimes missed, so that polling goes on beneath. Returns a function that ends the subscription.
   */
  subscribe(queues: readonly string[], wake: () => void): () => void
}

/** The store's driver is synchronous, so jobs can be enqueued without awaiting anything. */
export interface SyncFacet {
  /** As `Store.enqueue`, within `tx`, at once. */
  enqueue(jobs: readonly NewJob[], tx: StoreTx): readonly EnqueueResult[]
}

/** The store keeps what a handler returned, and its progress. */
export interface ResultsFacet {
  /** The longest result, in bytes of JSON. */
  readonly maxBytes: number
}
