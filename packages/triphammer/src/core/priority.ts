import { TriphammerError } from './errors.ts'
import { show } from './text.ts'

/** The five named levels of priority, most urgent first. */
export const LEVELS = ['critical', 'high', 'normal', 'low', 'background'] as const

/**
 * A named level of priority: critical is -20, high -10, normal 0, low 10, background 20. A level reaches from its number to the
 * next, so normal is 0 to 9.
 *
 * @useDeclaredType
 */
export type Level = (typeof LEVELS)[number]

/** A priority: a level, or any integer from -32768 to 32767. A lower number runs first. */
export type Priority = Level | number

/** The number of each level. A level reaches from its number to the next: normal is 0 to 9. */
export const LEVEL_PRIORITY: Readonly<Record<Level, number>> = {
  critical: -20,
  high: -10,
  normal: 0,
  low: 10,
  background: 20,
}

/** A weight for each level: the chance that a claim picks it is its share of the weights of all levels with work. */
export type Weights = Readonly<Record<Level, number>>

/** The weights of `weights: 'default'`. */
export const DEFAULT_WEIGHTS: Weights = { critical: 20, high: 10, normal: 5, low: 2, background: 1 }

/**
 * How often each level is picked, in proportion to the weights of all levels that have work: `'default'` is 20, 10, 5, 2, 1 from
 * critical to background; in an object, a level left out weighs 1. A level of weight 0 is only picked when all the others are.
 */
export type WeightsInput = 'default' | Readonly<Partial<Record<Level, number>>>

const MIN = -32_768
const MAX = 32_767

/**
 * The number of a priority.
 *
 * @throws TriphammerError `INVALID_OPTION`: neither a level nor an integer from -32768 to 32767
 */
export function parsePriority(value: Priority, what = 'priority'): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= MIN && value <= MAX) return value
  const level = typeof value === 'string' && Object.hasOwn(LEVEL_PRIORITY, value) ? LEVEL_PRIORITY[value] : undefined
  if (level !== undefined) return level
  throw new TriphammerError(
    'INVALID_OPTION',
    `${what}: ${show(value)} is not a priority; give ${LEVELS.join(', ')} or an integer from ${MIN} to ${MAX} (lower runs first)`,
  )
}

/** The priorities that belong to a level, both ends included. The first and the last level reach to the ends of the range. */
export function levelRange(level: Level): { readonly from: number; readonly to: number } {
  const at = LEVELS.indexOf(level)
  const next = LEVELS[at + 1]
  return {
    from: at === 0 ? MIN : LEVEL_PRIORITY[level],
    to: next === undefined ? MAX : LEVEL_PRIORITY[next] - 1,
  }
}

/** The level that a priority belongs to. */
export function levelOf(priority: number): Level {
  return LEVELS.findLast((level) => priority >= LEVEL_PRIORITY[level]) ?? 'critical'
}

/**
 * Complete weights from what a user gave.
 *
 * @throws TriphammerError `INVALID_OPTION`: an unknown level, or a weight that is not a finite number of zero or more
 */
export function parseWeights(input: WeightsInput): Weights {
  if (input === 'default') return DEFAULT_WEIGHTS
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new TriphammerError('INVALID_OPTION', `weights: give 'default' or an object such as { critical: 20, high: 10 }`)
  }
  const weights: Record<Level, number> = { critical: 1, high: 1, normal: 1, low: 1, background: 1 }
  for (const [level, weight] of Object.entries(input)) {
    if (!Object.hasOwn(LEVEL_PRIORITY, level)) {
      throw new TriphammerError('INVALID_OPTION', `weights: ${show(level)} is not a level; the levels are ${LEVELS.join(', ')}`)
    }
    if (typeof weight !== 'number' || !Number.isFinite(weight) || weight < 0) {
      throw new TriphammerError('INVALID_OPTION', `weights.${level}: ${show(weight)} is not a number of zero or more`)
    }
    weights[level as Level] = weight
  }
  return weights
}

/**
 * Picks one of the levels that have work, each with the chance `weight / sum of the candidates' weights`. When all of
 * them weigh nothing, the most urgent is picked; otherwise a level of weight 0 never is.
 *
 * @param candidates levels with runnable jobs, most urgent first; not empty
 * @param random a number from 0 up to but not including 1
 */
export function pickLevel(candidates: readonly Level[], weights: Weights, random: number): Level {
  const total = candidates.reduce((sum, level) => sum + weights[level], 0)
  let left = random * total
  for (const level of candidates) {
    left -= weights[level]
    if (left < 0) return level
  }
  return candidates[0]!
}
