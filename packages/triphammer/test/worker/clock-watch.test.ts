import { expect, it } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { manualClock } from '../../src/core/manual-clock.ts'
import { createClockWatch } from '../../src/worker/clock-watch.ts'

it.each([
  { leaseMs: 60_000, unseen: 1_000, seen: 1_001 },
  { leaseMs: 1_000, unseen: 250, seen: 251 },
])('a jump forward of more than $unseen ms is noticed with leases of $leaseMs ms', async ({ leaseMs, unseen, seen }) => {
  const clock = manualClock()
  const watch = createClockWatch(clock, leaseMs)
  await clock.advance('1h')
  expect(watch.jumpedAt()).toBe(Number.NEGATIVE_INFINITY)
  clock.setWallClock(clock.now() + unseen)
  expect(watch.jumpedAt()).toBe(Number.NEGATIVE_INFINITY)
  clock.setWallClock(clock.now() - 86_400_000)
  expect(watch.jumpedAt()).toBe(Number.NEGATIVE_INFINITY)
  clock.setWallClock(clock.now() + seen)
  expect(watch.jumpedAt()).toBe(clock.monotonic())
  const at = clock.monotonic()
  await clock.advance('1m')
  expect(watch.jumpedAt()).toBe(at)
})

it('a process that stands still between two readings of its clocks takes that for no jump', () => {
  let elapsed = 0
  let stands = { before: 0, after: 0 }
  // The wall clock and the monotonic one go on together; the process stands still before the wall clock is read, or after.
  const clock: Clock = {
    now() {
      elapsed += stands.before
      const wall = 1_000_000 + elapsed
      elapsed += stands.after
      return wall
    },
    monotonic: () => elapsed,
    timer: () => ({ cancel: () => {} }),
  }
  const watch = createClockWatch(clock, 60_000)
  for (const pause of [
    { before: 5_000, after: 0 },
    { before: 0, after: 5_000 },
    { before: 0, after: 0 },
    { before: 5_000, after: 5_000 },
    { before: 0, after: 0 },
  ]) {
    stands = pause
    expect(watch.jumpedAt()).toBe(Number.NEGATIVE_INFINITY)
  }
})
