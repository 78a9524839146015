import type { Clock } from '../core/clock.ts'

/** Lets one loop wait until it is rung or a time has passed. A ring while nobody waits is kept for the next wait. */
export interface Bell {
  ring(): void
  /** @param ms how long at most; absent: until it is rung */
  wait(ms?: number): Promise<void>
}

/** Makes a {@link Bell}. */
export function createBell(clock: Clock): Bell {
  let rung = false
  let wake: (() => void) | undefined
  return {
    ring() {
      rung = true
      wake?.()
    },
    wait(ms) {
      if (rung) {
        rung = false
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        const timer = ms === undefined ? undefined : clock.timer(ms, () => wake?.())
        wake = () => {
          wake = undefined
          rung = false
          timer?.cancel()
          resolve()
        }
      })
    },
  }
}
