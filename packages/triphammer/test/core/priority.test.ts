import { describe, expect, it } from 'vitest'
import {
  DEFAULT_WEIGHTS,
  LEVEL_PRIORITY,
  LEVELS,
  levelOf,
  levelRange,
  parsePriority,
  parseWeights,
  pickLevel,
} from '../../src/core/priority.ts'

describe('priorities', () => {
  it('a level has a number, a number is itself', () => {
    expect(LEVELS.map((level) => parsePriority(level))).toEqual([-20, -10, 0, 10, 20])
    expect([-32_768, 0, 7, 32_767].map((number) => parsePriority(number))).toEqual([-32_768, 0, 7, 32_767])
  })

  it.each(['urgent', 'toString', '', '5', 1.5, -32_769, 32_768, Number.NaN, undefined, null])('%j is refused', (value) => {
    expect(() => parsePriority(value as number)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  it('the levels cover every number once, each from its own number on', () => {
    const ranges = LEVELS.map(levelRange)
    expect(ranges[0]!.from).toBe(-32_768)
    expect(ranges.at(-1)!.to).toBe(32_767)
    for (const [at, range] of ranges.slice(1).entries()) expect(range.from).toBe(ranges[at]!.to + 1)
    for (const level of LEVELS) {
      const { from, to } = levelRange(level)
      expect([levelOf(from), levelOf(LEVEL_PRIORITY[level]), levelOf(to)]).toEqual([level, level, level])
    }
  })
})

describe('weights', () => {
  it('by default, or some: what is left out weighs 1', () => {
    expect(parseWeights('default')).toEqual({ critical: 20, high: 10, normal: 5, low: 2, background: 1 })
    expect(parseWeights({ high: 3, low: 0 })).toEqual({ critical: 1, high: 3, normal: 1, low: 0, background: 1 })
  })

  it.each([null, 'strict', { urgent: 1 }, { high: -1 }, { high: Number.NaN }, { high: Infinity }, { high: '2' }])(
    '%j is refused',
    (value) => {
      expect(() => parseWeights(value as 'default')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    },
  )

  it('each candidate is picked on its share of the way from 0 to 1', () => {
    const pick = (random: number): string => pickLevel(['critical', 'normal', 'background'], DEFAULT_WEIGHTS, random)
    // 20, 5 and 1 of 26.
    expect([0, 20 / 26 - 0.001, 20 / 26 + 0.001, 25 / 26 - 0.001, 25 / 26 + 0.001, 0.999_999].map(pick)).toEqual([
      ...['critical', 'critical', 'normal', 'normal', 'background', 'background'],
    ])
  })

  it('a level of no weight is picked only when all candidates weigh nothing, the most urgent first', () => {
    const weights = { ...DEFAULT_WEIGHTS, critical: 0, low: 0 }
    for (const random of [0, 0.5, 0.999_999]) {
      expect(pickLevel(['critical', 'high', 'low'], weights, random)).toBe('high')
      expect(pickLevel(['critical', 'low'], weights, random)).toBe('critical')
      expect(pickLevel(['low'], weights, random)).toBe('low')
    }
  })
})
