import { describe, expect, it } from 'vitest'
import { MAX_DURATION_MS, parseDuration } from '../../src/core/duration.ts'
import { parseInstant } from '../../src/core/instant.ts'

describe('a duration', () => {
  it.each([
    [0, 0],
    [1_500, 1_500],
    ['0s', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h 30m', 5_400_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    [' 2 s ', 2_000],
  ])('%j is %d ms', (value, ms) => {
    expect(parseDuration(value, 'delay')).toBe(ms)
  })

  it.each(['', ' ', '5', 's', '5 minutes', '-5s', '5s x', '1e3s', '5S', Number.NaN, Infinity, -1, -0.5])('%j is refused', (value) => {
    expect(() => parseDuration(value, 'delay')).toThrow(expect.objectContaining({ code: 'INVALID_DURATION' }))
  })

  it('of the wrong type is refused, and the message names the option', () => {
    expect(() => parseDuration(undefined as unknown as number, 'task x: timeout')).toThrow(/^task x: timeout: undefined is not a duration/)
  })

  it('has a least and a greatest value', () => {
    expect(parseDuration(1, 'timeout', 1)).toBe(1)
    expect(() => parseDuration(0, 'timeout', 1)).toThrow(/at least 1 ms/)
    expect(parseDuration(MAX_DURATION_MS, 'delay')).toBe(MAX_DURATION_MS)
    expect(() => parseDuration(MAX_DURATION_MS + 1, 'delay')).toThrow(/longer than 100 years/)
  })
})

describe('an instant', () => {
  const ms = Date.UTC(2026, 2, 1, 8)

  it.each([
    [ms],
    [new Date(ms)],
    ['2026-03-01T08:00:00Z'],
    ['2026-03-01 08:00Z'],
    ['2026-03-01T09:00:00.000+01:00'],
    ['2026-03-01T03:00:00-0500'],
    [{ epochMilliseconds: ms }],
    [ms + 0.75],
  ])('%j', (value) => {
    expect(parseInstant(value, 'runAt')).toBe(ms)
  })

  it('a date alone is midnight in UTC', () => {
    expect(parseInstant('2026-03-01', 'runAt')).toBe(Date.UTC(2026, 2, 1))
  })

  it.each([
    '2026-03-01T08:00:00',
    'tomorrow',
    '',
    '2026-13-01',
    '2026-03-01T25:00Z',
    Number.NaN,
    -1,
    Date.UTC(10_000, 0, 1),
    new Date(Number.NaN),
  ])('%j is refused', (value) => {
    expect(() => parseInstant(value, 'runAt')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  it.each([undefined, null, {}, true])('%j is refused', (value) => {
    expect(() => parseInstant(value as unknown as number, 'runAt')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
