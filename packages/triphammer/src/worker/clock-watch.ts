import type { Clock } from '../core/clock.ts'

/**
 * Notices when the machine's wall clock is set forward, or the machine has slept.
 *
 * Leases end by the store's clock, which on an embedded store is the machine's: when it jumps, all leases run out at once,
 * those of live workers as well. So each worker extends its own as soon as it notices, and leaves those of others alone until
 * their workers have had the time to do the same. A clock that goes back makes leases longer, and takes nothing from anybody.
 */
export interface ClockWatch {
  /** When a jump was last noticed, on the monotonic clock; minus infinity if there was none. Each call looks. */
  jumpedAt(): number
}

/** A smaller jump ends no lease that is kept: with two thirds of it to go, it is extended. */
const JUMP_MAX_MS = 1_000

/** Makes a {@link ClockWatch}. */
export function createClockWatch(clock: Clock, leaseMs: number): ClockWatch {
  const jumpMs = Math.min(JUMP_MAX_MS, leaseMs / 4)
  // How far the wall clock is ahead, at least and at most: on a busy machine a process may stand still between two readings.
  const ahead = (): { readonly least: number; readonly most: number } => {
    const from = clock.monotonic()
    const wall = clock.now()
    return { least: wall - clock.monotonic(), most: wall - from }
  }
  let before = ahead().most
  let jumpedAt = Number.NEGATIVE_INFINITY
  return {
    jumpedAt() {
      const { least, most } = ahead()
      if (least - before > jumpMs) jumpedAt = clock.monotonic()
      before = most
      return jumpedAt
    },
  }
}
