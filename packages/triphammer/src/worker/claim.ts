import type { TriphammerError } from '../core/errors.ts'
import type { LeaseRef, Outcome, Run } from '../store/types.ts'

/**
 * One run in the hands of this worker, from its claim until the store has answered its outcome.
 *
 * ```
 *  held ──start──► running ──settle──► ended ──answer──► gone
 *    └──────── release, cancel, fail ────▲
 *    └──────── lease lost ──► gone
 * ```
 */
export interface Claim {
  readonly run: Run
  /** When the claim was answered, on the monotonic clock: what start and end are counted from. */
  readonly claimedAt: number
  /** When the lease was last known to be extended, on the monotonic clock, counted from before the call. */
  renewedAt: number
  /** When the store last said that the run is ours to start. */
  confirmedAt: number
  phase: 'held' | 'running' | 'ended'
  /** While running. */
  active?: ActiveRun
}

/** A run whose handler is at work. */
export interface ActiveRun {
  /** Aborts the handler's signal; the first reason stays. */
  abort(reason: TriphammerError): void
  /** Gives the run up, whatever the handler does from now on. */
  handBack(): void
  /** The progress to be written down, once. */
  takeProgress(): string | undefined
  /** The progress could not be written down: it is to be tried again, if there is no newer. */
  showAgain(progress: string): void
}

/** What a run ended with, on its way to the store. */
export interface Ended {
  readonly claim: Claim
  outcome: Outcome
  /** It started, so a gate counts it as done; what never started is refunded. */
  readonly started: boolean
  /** How often the store has failed to take it. */
  tries: number
}

/** The lease of a claim. */
export function leaseOf({ run }: Claim): LeaseRef {
  return run.lease
}
