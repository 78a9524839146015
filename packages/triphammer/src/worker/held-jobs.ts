import type { Clock } from '../core/clock.ts'
import type { Store } from '../store/store.ts'
import type { LeaseState } from '../store/types.ts'
import { type Claim, leaseOf } from './claim.ts'

/**
 * Jobs of one queue that are claimed and have not started, in the order in which they will.
 *
 * A job that has waited is not started on the strength of an old claim: its lease may be lost, its queue paused, it may be
 * cancelled. `next` gives only jobs that the store has confirmed a moment ago and whose leases go on; otherwise it asks, once
 * for all that wait, and rings when it knows.
 */
export interface HeldJobs {
  readonly size: number
  push(claim: Claim): void
  /** The next job to start, if there is one that may. */
  next(): Claim | undefined
  /** Takes one job out. `false`: it is not among them. */
  remove(claim: Claim): boolean
  /** Takes out all jobs, or those that a condition holds for. */
  drain(which?: (claim: Claim) => boolean): Claim[]
}

/** What {@link HeldJobs} work with. */
export interface HeldJobsOptions {
  readonly store: Store
  readonly clock: Clock
  readonly leaseMs: number
  /** The store's answer about a job that waits. A job that may not start is taken out by whoever handles it. */
  readonly onState: (claim: Claim, state: LeaseState) => void
  /** Jobs were confirmed: `next` may have one. */
  readonly onConfirmed: () => void
  /** The store could not be asked. Resolves when it shall be asked again. */
  readonly onFailure: (error: unknown, tries: number) => Promise<void>
}

/** A job claimed or confirmed within this time may start. */
const MOMENT_MS = 100

/** Makes {@link HeldJobs}. */
export function createHeldJobs({ store, clock, leaseMs, onState, onConfirmed, onFailure }: HeldJobsOptions): HeldJobs {
  let held: Claim[] = []
  let asking = false

  // By our own count, from before the call that made it: an answer may have lain for minutes while the process was suspended.
  const mayHaveRunOut = ({ renewedAt }: Claim, now: number): boolean => now - renewedAt >= leaseMs

  const confirm = async (): Promise<void> => {
    for (let tries = 0; held.length > 0; tries++) {
      const asked = [...held]
      const sentAt = clock.monotonic()
      // To look is not enough then: a lease that has run out is held until somebody takes the job, which may be the next moment.
      const extend = asked.some((claim) => mayHaveRunOut(claim, sentAt))
      try {
        const states = await store.extend(asked.map(leaseOf), extend ? { leaseMs } : {})
        const now = clock.monotonic()
        asked.forEach((claim, i) => {
          claim.confirmedAt = now
          if (extend) claim.renewedAt = sentAt
          if (claim.phase === 'held') onState(claim, states[i]!)
        })
        return
      } catch (error) {
        await onFailure(error, tries)
      }
    }
  }

  return {
    get size() {
      return held.length
    },
    push: (claim) => void held.push(claim),
    next() {
      const [first] = held
      if (!first || asking) return undefined
      const now = clock.monotonic()
      if (now - first.confirmedAt <= MOMENT_MS && !mayHaveRunOut(first, now)) return held.shift()
      asking = true
      void confirm().finally(() => {
        asking = false
        onConfirmed()
      })
      return undefined
    },
    remove(claim) {
      const at = held.indexOf(claim)
      if (at >= 0) held.splice(at, 1)
      return at >= 0
    },
    drain(which = () => true) {
      const out = held.filter(which)
      held = held.filter((claim) => !which(claim))
      return out
    },
  }
}
