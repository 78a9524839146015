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
  /**
   * Reports a failed call.
   *
   * @param tries how often the same loop has failed in a row before
   * @returns milliseconds to wait before the next try
   */
  failed(error: unknown, tries: number): number
  /** The wait after a failure that is no fault of the store. */
  wait(tries: number): number
  succeeded(): void
  /** Milliseconds since the last failure; infinite when there was none. */
  quietMs(): number
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
}): Outage {
  const { clock, ids, log, events, fatal } = options
  let away = false
  let failedAt = Number.NEGATIVE_INFINITY
  const wait = (tries: number): number => Math.min(FIRST_WAIT_MS * 2 ** Math.min(tries, 10), LONGEST_WAIT_MS) * (0.5 + ids.random() / 2)
  return {
    wait,
    failed(error, tries) {
      failedAt = clock.monotonic()
      if (isFatal(error)) fatal(error)
      if (!away) {
        away = true
        log.error({ error }, 'the store cannot be used; trying again until it can')
        events.emit('store.unavailable', { error, at: clock.now() })
      }
      return wait(tries)
    },
    succeeded() {
      if (!away) return
      away = false
      log.warn({}, 'the store is back')
      events.emit('store.available', { at: clock.now() })
    },
    quietMs: () => clock.monotonic() - failedAt,
  }
}
