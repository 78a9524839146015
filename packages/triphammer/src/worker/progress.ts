import type { Store } from '../store/store.ts'
import type { LeaseState } from '../store/types.ts'
import { type Claim, leaseOf } from './claim.ts'
import { isAway } from './outage.ts'

/** Leases in one call. */
const SLICE = 500

/** How progress is written down. */
export interface ProgressOptions {
  readonly store: Store
  /** Extends the leases on the way; absent: they stay as they are. */
  readonly leaseMs?: number
  /** What the store said of each lease. */
  readonly told: (claim: Claim, state: LeaseState) => void
}

/**
 * Writes down what the handlers of these claims have shown since the last time. What a store that is away has not written
 * is kept for the next time, unless the handler has shown more since.
 */
export async function writeProgress(claims: Iterable<Claim>, { store, leaseMs, told }: ProgressOptions): Promise<void> {
  const shown: { readonly claim: Claim; readonly progress: string }[] = []
  for (const claim of claims) {
    const progress = claim.active?.takeProgress()
    if (progress !== undefined) shown.push({ claim, progress })
  }
  for (let at = 0; at < shown.length; at += SLICE) {
    const slice = shown.slice(at, at + SLICE)
    const progress = new Map(slice.map(({ claim, progress: text }) => [claim.run.id, text]))
    try {
      const states = await store.extend(
        slice.map(({ claim }) => leaseOf(claim)),
        leaseMs === undefined ? { progress } : { leaseMs, progress },
      )
      slice.forEach(({ claim }, i) => void told(claim, states[i]!))
    } catch (error) {
      if (isAway(error)) for (const { claim, progress: text } of shown.slice(at)) claim.active?.showAgain(text)
      throw error
    }
  }
}
