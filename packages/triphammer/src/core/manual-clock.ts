import type { Clock, Timer } from './clock.ts'
import { type Duration, parseDuration } from './duration.ts'

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /**
   * Moves the clock forward, firing every timer on the way at its own time. After each timer all work that it set off and
   * that waits for nothing but promises and immediates runs before the clock moves on.
   */
  advance(by: Duration): Promise<void>
  /** Sets the wall clock alone, as a person or a time server would; timers and the monotonic clock do not notice. */
  setWallClock(ms: number): void
}

interface Pending extends Timer {
  readonly at: number
  readonly seq: number
  readonly fn: () => void
}

/**
 * Makes a clock for tests.
 *
 * @param start milliseconds since the Unix epoch (default 2026-01-01T00:00:00Z)
 * @example
 * const clock = manualClock()
 * const store = memory({ clock })
 * await clock.advance('1h')
 */
export function manualClock(start: number = Date.UTC(2026, 0, 1)): ManualClock {
  const pending = new Set<Pending>()
  let elapsed = 0
  let wall = start
  let seq = 0

  const next = (until: number): Pending | undefined => {
    let first: Pending | undefined
    for (const timer of pending) {
      if (timer.at <= until && (!first || timer.at < first.at || (timer.at === first.at && timer.seq < first.seq))) first = timer
    }
    return first
  }
  const moveTo = (at: number): void => {
    wall += at - elapsed
    elapsed = at
  }

  return {
    // Whole milliseconds, as the machine's: timers may be set to fractions.
    now: () => Math.floor(wall),
    monotonic: () => elapsed,
    timer: (ms, fn) => {
      const timer: Pending = { at: elapsed + Math.max(0, ms), seq: seq++, fn, cancel: () => pending.delete(timer) }
      pending.add(timer)
      return timer
    },
    advance: async (by) => {
      const until = elapsed + parseDuration(by, 'advance')
      await settle()
      for (let timer = next(until); timer; timer = next(until)) {
        pending.delete(timer)
        moveTo(timer.at)
        timer.fn()
        await settle()
      }
      moveTo(until)
    },
    setWallClock: (ms) => {
      wall = ms
    },
  }
}

// A handful of turns of the event loop: enough for a chain of promises that crosses a few immediates.
async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
