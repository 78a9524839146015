import { describe, expect, it } from 'vitest'
import { createIds, parseId } from '../../src/core/ids.ts'
import { manualClock } from '../../src/core/manual-clock.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

function expectRising(ids: readonly string[]): void {
  expect(ids.findIndex((id, at) => at > 0 && id <= ids[at - 1]!)).toBe(-1)
}

describe('ids', () => {
  it('are UUIDs of version 7 that carry the time', () => {
    const clock = manualClock(Date.UTC(2026, 5, 1))
    const id = createIds(clock).next()
    expect(id).toMatch(V7)
    expect(timeOf(id)).toBe(clock.now())
  })

  it('rise within one millisecond, past the 4096 that its counter can hold', () => {
    const clock = manualClock()
    const { next } = createIds(clock)
    const ids = Array.from({ length: 20_000 }, next)
    expectRising(ids)
    expect(ids.every((id) => V7.test(id))).toBe(true)
    // The time field runs ahead by a millisecond for every 4096 ids, and no further.
    expect(timeOf(ids.at(-1)!) - clock.now()).toBeLessThanOrEqual(5)
  })

  it('are the same again when the bytes are', () => {
    const make = (): readonly unknown[] => {
      let at = 0
      const { next, random } = createIds(manualClock(), (bytes) => {
        for (let i = 0; i < bytes.length; i++) bytes[i] = at++ % 251
      })
      // More than one filling.
      return Array.from({ length: 1_000 }, () => [next(), random()])
    }
    expect(make()).toEqual(make())
  })

  it('rise when the clock goes back, and follow it again once it has caught up', async () => {
    const clock = manualClock()
    const { next } = createIds(clock)
    const start = clock.now()
    const ids = [next()]
    clock.setWallClock(start - 3_600_000)
    for (let n = 0; n < 5_000; n++) ids.push(next())
    expect(timeOf(ids.at(-1)!)).toBeGreaterThanOrEqual(start)
    clock.setWallClock(start + 10_000)
    ids.push(next())
    expect(timeOf(ids.at(-1)!)).toBe(start + 10_000)
    expectRising(ids)
  })

  it('rise from one millisecond to the next, whatever the counter started at', async () => {
    const clock = manualClock()
    const { next } = createIds(clock)
    const ids: string[] = []
    for (let ms = 0; ms < 300; ms++) {
      ids.push(next(), next())
      clock.setWallClock(clock.now() + 1)
    }
    expectRising(ids)
  })

  it('of two makers do not meet', () => {
    const clock = manualClock()
    const [a, b] = [createIds(clock), createIds(clock)]
    const ids = new Set(Array.from({ length: 5_000 }, () => [a.next(), b.next()]).flat())
    expect(ids.size).toBe(10_000)
  })

  it('random numbers are spread over 0 to 1', () => {
    const { random } = createIds()
    const tenths = new Map<number, number>()
    for (let n = 0; n < 10_000; n++) {
      const number = random()
      tenths.set(Math.floor(number * 10), (tenths.get(Math.floor(number * 10)) ?? 0) + 1)
    }
    expect([...tenths.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    // 1000 are expected in each, with a standard deviation of 30.
    for (const count of tenths.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250)
  })
})

describe('parseId', () => {
  it('takes a UUID of any version, in lower case', () => {
    expect(parseId('01890A5D-AC96-774B-BCCE-B302099A8057')).toBe('01890a5d-ac96-774b-bcce-b302099a8057')
    expect(parseId('00000000-0000-4000-8000-000000000000')).toBe('00000000-0000-4000-8000-000000000000')
  })

  it.each([
    undefined,
    null,
    7,
    '',
    'x',
    '01890a5dac96774bbcceb302099a8057',
    '{01890a5d-ac96-774b-bcce-b302099a8057}',
    '01890a5d-ac96-774b-bcce-b302099a8057\n',
  ])('refuses %j', (value) => {
    expect(() => parseId(value)).toThrow(expect.objectContaining({ code: 'INVALID_ID' }))
  })
})
