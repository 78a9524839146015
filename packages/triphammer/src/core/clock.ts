/** A timer that can be called off. */
export interface Timer {
  /** The function will not be called; nothing happens if it has been. */
  cancel(): void
}

/**
 * Where time comes from. Nothing in the library reads the time or waits but through a clock, so that tests can own it.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. May jump, as the machine's clock may. */
  now(): number
  /** Milliseconds since an arbitrary start; never goes back. Differences of it are durations. */
  monotonic(): number
  /** Calls `fn` once, `ms` milliseconds from now. */
  timer(ms: number, fn: () => void): Timer
}

// setTimeout fires at once when the delay does not fit in 31 bits: longer waits are made of several.
const MAX_TIMEOUT = 2 ** 31 - 1

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, fn) => {
    let handle: NodeJS.Timeout
    const arm = (left: number): void => {
      const step = Math.min(left, MAX_TIMEOUT)
      handle = setTimeout(() => (left > step ? arm(left - step) : fn()), step)
    }
    arm(Math.max(0, ms))
    return { cancel: () => clearTimeout(handle) }
  },
}

/**
 * Resolves after `ms` milliseconds on `clock`, or as soon as `signal` is aborted. It never rejects: a wait that is cut
 * short is an ordinary event for every loop that waits.
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.timer(ms, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}
