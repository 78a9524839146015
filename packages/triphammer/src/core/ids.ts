import { randomFillSync } from 'node:crypto'
import type { Clock } from './clock.ts'
import { systemClock } from './clock.ts'
import { TriphammerError } from './errors.ts'
import { show } from './text.ts'

/** Makes ids and random numbers. Injected, so that a test can repeat a run exactly. */
export interface Ids {
  /** A UUIDv7 in lower-case text, greater than every id this maker made before. */
  next(): string
  /** A number from 0 up to but not including 1. */
  random(): number
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const POOL_BYTES = 4096
const RANDOM_BYTES = 9
const COUNTER_MAX = 0xfff

/**
 * Makes monotonic UUIDv7 (RFC 9562 §6.2, method 1: the 12 bits of `rand_a` are a counter that starts anew, at a random
 * low value, with each millisecond). When the counter is used up or the clock goes back, the time field runs ahead of the
 * clock rather than repeat itself, so ids made in one process always rise.
 *
 * @param fill where the random bytes come from; a test that wants the same ids again gives its own
 */
export function createIds(clock: Clock = systemClock, fill: (bytes: Uint8Array) => void = randomFillSync): Ids {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  let lastMs = -1
  let counter = 0

  const bytes = (count: number): number => {
    if (used + count > POOL_BYTES) {
      fill(pool)
      used = 0
    }
    const at = used
    used += count
    return at
  }
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

  return {
    next() {
      const at = bytes(RANDOM_BYTES)
      const now = clock.now()
      if (now > lastMs) {
        lastMs = now
        counter = pool[at]! // at most 255 of 4095: room for the rest of this millisecond
      } else if (counter < COUNTER_MAX) {
        counter++
      } else {
        lastMs++
        counter = 0
      }
      const time = hex(lastMs, 12)
      const variant = 0x8000 | ((pool[at + 1]! & 0x3f) << 8) | pool[at + 2]!
      let tail = ''
      for (let i = at + 3; i < at + RANDOM_BYTES; i++) tail += HEX[pool[i]!]
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(counter, 3)}-${hex(variant, 4)}-${tail}`
    },
    random() {
      const at = bytes(4)
      return (((pool[at]! << 24) | (pool[at + 1]! << 16) | (pool[at + 2]! << 8) | pool[at + 3]!) >>> 0) / 2 ** 32
    },
  }
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Checks an id that a user gave: a UUID of any version, kept in lower case.
 *
 * @throws TriphammerError `INVALID_ID`
 */
export function parseId(value: unknown, what = 'id'): string {
  const id = typeof value === 'string' ? value.toLowerCase() : ''
  if (!UUID.test(id)) {
    throw new TriphammerError('INVALID_ID', `${what}: ${show(value)} is not a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057`)
  }
  return id
}
