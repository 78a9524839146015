import { describe, expect, it } from 'vitest'
import { sleep, systemClock } from '../../src/core/clock.ts'
import { manualClock } from '../../src/core/manual-clock.ts'

describe('the manual clock', () => {
  it('stands still until it is moved', async () => {
    const clock = manualClock(1_000)
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0])
    await clock.advance('1m 30s')
    expect([clock.now(), clock.monotonic()]).toEqual([91_000, 90_000])
  })

  it('fires timers at their own times, in order, and those that they set on the way', async () => {
    const clock = manualClock(0)
    const fired: (readonly [string, number])[] = []
    const note = (name: string): void => void fired.push([name, clock.now()])
    clock.timer(30, () => note('c'))
    clock.timer(10, () => {
      note('a')
      clock.timer(15, () => note('b'))
      clock.timer(1_000, () => note('too late'))
    })
    clock.timer(30, () => note('d'))
    await clock.advance(100)
    expect(fired).toEqual([
      ['a', 10],
      ['b', 25],
      ['c', 30],
      ['d', 30],
    ])
    expect(clock.now()).toBe(100)
  })

  it('a timer that is called off does not fire; one that has fired can be called off', async () => {
    const clock = manualClock()
    let count = 0
    const off = clock.timer(5, () => count++)
    const on = clock.timer(5, () => count++)
    off.cancel()
    await clock.advance(10)
    on.cancel()
    expect(count).toBe(1)
  })

  it('a timer of no time fires at the next move, even by nothing', async () => {
    const clock = manualClock()
    let count = 0
    clock.timer(0, () => count++)
    clock.timer(-5, () => count++)
    expect(count).toBe(0)
    await clock.advance(0)
    expect(count).toBe(2)
  })

  it('work that a timer sets off runs before the clock moves on', async () => {
    const clock = manualClock(0)
    const times: number[] = []
    const work = async (): Promise<void> => {
      for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
      times.push(clock.now())
    }
    clock.timer(10, () => void work())
    clock.timer(20, () => void work())
    await clock.advance(50)
    expect(times).toEqual([10, 20])
  })

  it('the wall clock can be set, back as well, and no timer notices', async () => {
    const clock = manualClock(1_000_000)
    let fired = false
    clock.timer(100, () => {
      fired = true
    })
    clock.setWallClock(500)
    expect([clock.now(), clock.monotonic()]).toEqual([500, 0])
    await clock.advance(99)
    expect([fired, clock.now(), clock.monotonic()]).toEqual([false, 599, 99])
    await clock.advance(1)
    expect(fired).toBe(true)
  })
})

describe('sleep', () => {
  it('lasts that long', async () => {
    const clock = manualClock()
    let awake = false
    const sleeping = sleep(clock, 100).then(() => {
      awake = true
    })
    await clock.advance(99)
    expect(awake).toBe(false)
    await clock.advance(1)
    await sleeping
    expect(awake).toBe(true)
  })

  it('ends at once when its signal is aborted, and never rejects', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const sleeping = sleep(clock, 1_000, controller.signal)
    controller.abort(new Error('no'))
    expect(await sleeping).toBeUndefined()
    expect(await sleep(clock, 1_000, controller.signal)).toBeUndefined()
    expect(clock.monotonic()).toBe(0)
  })
})

describe("the machine's clock", () => {
  it('tells the time and calls timers back', async () => {
    const before = Date.now()
    expect(systemClock.now()).toBeGreaterThanOrEqual(before)
    const start = systemClock.monotonic()
    await new Promise<void>((resolve) => void systemClock.timer(1, resolve))
    expect(systemClock.monotonic()).toBeGreaterThan(start)
  })

  it('a timer longer than 24 days does not fire at once', async () => {
    let fired = false
    const timer = systemClock.timer(2 ** 31 + 1_000, () => {
      fired = true
    })
    await new Promise<void>((resolve) => void systemClock.timer(5, resolve))
    timer.cancel()
    expect(fired).toBe(false)
  })
})
