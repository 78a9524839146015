import type { Ended } from './claim.ts'

/**
 * Outcomes on their way to the store. What gathers while one round trip is under way shares the next.
 *
 * When the store refuses a whole batch for a reason of its own (not because it is away), the next carries a single outcome,
 * and batches grow again as outcomes are taken, so that one bad outcome never holds up the others.
 */
export interface Outbox {
  /** A refused outcome is being looked for: batches carry a single one. */
  readonly isolating: boolean
  push(ended: Ended): void
  /** The next batch: at most one outcome per job, oldest first. */
  take(): Ended[]
  /** The batch was answered. */
  answered(): void
  /** The batch was not answered; it goes first next time. */
  putBack(batch: readonly Ended[]): void
  /** The batch was refused. Returns the outcomes that are given up: their leases run out and they are reclaimed. */
  refused(batch: readonly Ended[]): readonly Ended[]
}

const BATCH_MAX = 500
const REFUSALS_MAX = 3

/** Makes an {@link Outbox}. */
export function createOutbox(): Outbox {
  let waiting: Ended[] = []
  let limit = BATCH_MAX
  const putBack = (batch: readonly Ended[]): void => {
    waiting = [...batch, ...waiting]
  }
  return {
    get isolating() {
      return limit === 1
    },
    push: (ended) => void waiting.push(ended),
    take() {
      const batch: Ended[] = []
      const rest: Ended[] = []
      const ids = new Set<string>()
      for (const ended of waiting) {
        const { id } = ended.claim.run
        if (batch.length < limit && !ids.has(id)) {
          ids.add(id)
          batch.push(ended)
        } else {
          rest.push(ended)
        }
      }
      waiting = rest
      return batch
    },
    answered() {
      limit = Math.min(limit * 2, BATCH_MAX)
    },
    putBack,
    refused(batch) {
      limit = 1
      const [only] = batch
      if (batch.length === 1 && ++only!.tries >= REFUSALS_MAX) return batch
      putBack(batch)
      return []
    },
  }
}
