import type { Clock } from '../core/clock.ts'
import { isTriphammerError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { EventBus } from '../extend/events.ts'

/**
 * What a worker does when its store fails: it goes on trying, each loop with its own backoff, and says once that the store
 * is away and once that it is back. What no waiting can mend ends the worker.
 */
export interface Outage {
  /** Somebody new who calls the store. It is back when nobody is left who failed: a locked file or a full disk can still be read. */
  caller(): Caller
  /** The wait after a failure that is no fault of the store. */
  wait(tries: number): number
  /** Milliseconds since the last failure; infinite when there was none. */
  quietMs(): number
}

/** One of those who call the store again and again. */
export interface Caller {
  /**
   * Reports a failed call.
   *
   * @param tries how often the same caller has failed in a row before
   * @returns milliseconds to wait before the next try
   */
  failed(error: unknown, tries: number): number
  /** Its last call succeeded, or it has nothing to ask for any more. */
  succeeded(): void
}

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000
const FATAL = ['SCHEMA_MISSING', 'SCHEMA_TOO_NEW', 'NOT_A_DATABASE', 'DRIVER_MISSING', 'STORE_CLOSED'] as const

/** Whether waiting cannot mend this error of a store. */
export function isFatal(error: unknown): boolean {
  return FATAL.some((code) => isTriphammerError(error, code))
}

/** Whether the store itself is away or busy, so that the same call will do later. */
export function isAway(error: unknown): boolean {
  return isTriphammerError(error, 'STORE_UNAVAILABLE') || isTriphammerError(error, 'STORE_BUSY')
}

/** Makes an {@link Outage}. `fatal` is called with each error that ends the worker. */
export function createOutage(options: {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly events: EventBus
  readonly fatal: (error: unknown) => void
  readonly leaseMs: number
}): Outage {
  const { clock, ids, log, events, fatal, leaseMs } = options
  const failing = new Set<Caller>()
  let failedAt = Number.NEGATIVE_INFINITY
  // Nobody reclaims for half a lease after a failure of its own. Who tries again within a sixth of one has extended its leases by then.
  const longestMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, leaseMs / 6))
  const wait = (tries: number): number => Math.min(FIRST_WAIT_MS * 2 ** Math.min(tries, 10), longestMs) * (0.5 + ids.random() / 2)
  const makeCaller = (): Caller => {
    const caller: Caller = {
      failed(error, tries) {
        failedAt = clock.monotonic()
        if (isFatal(error)) fatal(error)
        if (failing.size === 0) {
          log.error({ error }, 'the store cannot be used; trying again until it can')
          events.emit('store.unavailable', { error, at: clock.now() })
        }
        failing.add(caller)
        return wait(tries)
      },
      succeeded() {
        if (!failing.delete(caller) || failing.size > 0) return
        log.warn({}, 'the store is back')
        events.emit('store.available', { at: clock.now() })
      },
    }
    return caller
  }
  return { wait, caller: makeCaller, quietMs: () => clock.monotonic() - failedAt }
}
