import { type Clock, sleep } from '../core/clock.ts'
import type { Caller } from './outage.ts'

/** What {@link every} works with. */
export interface EveryOptions {
  readonly clock: Clock
  readonly caller: Caller
  /** Waits for the next pass: so many milliseconds, or in a way of its own. Asked anew each time. */
  readonly wait: () => number | Promise<void>
  readonly signal: AbortSignal
}

/**
 * Runs `pass` again and again, the first time at once, until the signal is aborted; resolves when the last pass has ended,
 * so that a pass is never cut in its middle. A pass that fails is repeated with the store's backoff.
 */
export async function every({ clock, caller, wait, signal }: EveryOptions, pass: () => Promise<void>): Promise<void> {
  for (let tries = 0; !signal.aborted; ) {
    try {
      await pass()
      caller.succeeded()
      tries = 0
      const until = wait()
      await (typeof until === 'number' ? sleep(clock, until, signal) : until)
    } catch (error) {
      await sleep(clock, caller.failed(error, tries++), signal)
    }
  }
}
