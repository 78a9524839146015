import type { Ids } from '../src/core/ids.ts'
import type { ManualClock } from '../src/core/manual-clock.ts'
import type { Store } from '../src/store/store.ts'

/** Where the handles on one set of data meet, and what they share. */
export interface Place {
  readonly clock: ManualClock
  readonly ids: Ids
  /** A folder of this place's own, made when it is first asked for and deleted after the test. */
  folder(): string
  /** What `make` returned at its first call: for a store that only its own handle can reach. */
  once<Value>(make: () => Value): Value
}

/** A store that the contracts run on. */
export interface StoreUnderTest {
  readonly name: string
  /** A new handle on the data of this place, with a connection of its own where the store has connections. */
  connect(place: Place): Store | Promise<Store>
}
