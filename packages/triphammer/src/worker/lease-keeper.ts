import type { Clock } from '../core/clock.ts'
import type { Store } from '../store/store.ts'
import { type Claim, leaseOf } from './claim.ts'
import type { ClockWatch } from './clock-watch.ts'
import { writeProgress } from './progress.ts'
import type { QueueLoop } from './queue-loop.ts'

/**
 * Keeps the leases of everything that a worker has claimed and not yet finished: what runs, what is held, what waits for its
 * outcome to be written. Whoever has lost a lease learns it here.
 */
export interface LeaseKeeper {
  /** Extends the leases that are due: called every third of a lease. */
  renew(): Promise<void>
  /** Extends all leases, due or not: what the clocks say of them may be wrong when the machine has slept. */
  renewAll(): Promise<void>
  /** Extends at once what was last extended before the machine's clock jumped: by now it has run out. */
  renewAfterJump(): Promise<void>
  /** Looks at all leases, extending none: something has happened to one of them. */
  look(): Promise<void>
  /** Writes down the progress that handlers have shown since the last call. */
  writeProgress(): Promise<void>
}

/** Leases in one call. */
const SLICE = 500

/** Makes a {@link LeaseKeeper}. */
export function createLeaseKeeper(options: {
  readonly store: Store
  readonly clock: Clock
  readonly leaseMs: number
  readonly loops: readonly QueueLoop[]
  readonly watch: ClockWatch
}): LeaseKeeper {
  const { store, clock, leaseMs, loops, watch } = options
  const ask = async (which: (claim: Claim) => boolean, extend: boolean): Promise<void> => {
    const asked = loops.flatMap((loop) => [...loop.claims()].filter(which).map((claim) => ({ loop, claim })))
    for (let at = 0; at < asked.length; at += SLICE) {
      const slice = asked.slice(at, at + SLICE)
      const sentAt = clock.monotonic()
      const states = await store.extend(
        slice.map(({ claim }) => leaseOf(claim)),
        extend ? { leaseMs } : {},
      )
      slice.forEach(({ loop, claim }, i) => {
        if (extend) claim.renewedAt = sentAt
        loop.onState(claim, states[i]!)
      })
    }
  }
  return {
    // Most jobs end before their first heartbeat. One claimed or renewed less than a sixth of a lease ago waits for the next
    // pass and is then at most half a lease old.
    renew: () => ask(({ renewedAt }) => clock.monotonic() - renewedAt >= leaseMs / 6, true),
    renewAll: () => ask(() => true, true),
    renewAfterJump() {
      const jumpedAt = watch.jumpedAt()
      return ask(({ renewedAt }) => renewedAt < jumpedAt, true)
    },
    look: () => ask(() => true, false),
    async writeProgress() {
      for (const loop of loops) await writeProgress(loop.claims(), { store, leaseMs, told: loop.onState })
    },
  }
}
