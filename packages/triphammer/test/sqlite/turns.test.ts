import { expect, it } from 'vitest'
import { newJob } from '../../conformance/builders.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { freshFile, ids, storeOn } from './place.ts'

// Each look at the clock finds it a millisecond on, however fast the machine is.
function slowStore(): Store {
  let now = 0
  return storeOn(freshFile(), { clock: { ...systemClock, monotonic: () => now++ } })
}

it.each<[string, (store: Store) => Promise<unknown>]>([
  ['writes', (store) => store.enqueue([newJob(ids)])],
  ['reads', (store) => store.admin.count({})],
  ['transactions', (store) => store.transaction(async (tx) => store.enqueue([newJob(ids)], tx))],
])('a loop of awaited %s lets the event loop come round', async (_, call) => {
  const store = slowStore()
  await store.schema.migrate()
  let rounds = 0
  const round = (): void => {
    rounds++
    setImmediate(round)
  }
  setImmediate(round)
  for (let calls = 0; calls < 50; calls++) await call(store)
  expect(rounds).toBeGreaterThan(3)
  expect(rounds).toBeLessThan(50)
})
