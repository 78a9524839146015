import type { Command } from 'commander'
import type { Clock } from '../core/clock.ts'
import { parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { parseInstant } from '../core/instant.ts'
import type { Level, Priority } from '../core/priority.ts'
import { STATES } from '../core/state.ts'
import { show } from '../core/text.ts'
import type { JobFilterInput } from '../index.ts'

/** Which jobs, as the options of a command line say it. */
export interface FilterFlags {
  readonly queue?: readonly string[]
  readonly task?: readonly string[]
  readonly state?: readonly string[]
  readonly priority?: readonly string[]
  readonly createdBefore?: string
  readonly createdAfter?: string
  readonly runBefore?: string
  readonly runAfter?: string
  readonly endedBefore?: string
  readonly endedAfter?: string
  readonly all?: boolean
}

const MOMENTS = {
  createdBefore: 'created before this moment: 2026-03-01T08:00:00Z, or how long ago: 7d',
  createdAfter: 'created at this moment or later',
  runBefore: 'due before this moment',
  runAfter: 'due at this moment or later',
  endedBefore: 'ended before this moment',
  endedAfter: 'ended at this moment or later',
} as const
const MOMENT_KEYS = Object.keys(MOMENTS) as readonly (keyof typeof MOMENTS)[]
const KEYS = ['queue', 'task', 'state', 'priority', ...MOMENT_KEYS, 'all'] as const

/** Adds the options that say which jobs. Every condition given must hold; one that is repeated holds for any of its values. */
export function addFilterOptions(command: Command): Command {
  command
    .option('--queue <name>', 'in this queue (repeatable)', collect)
    .option('--task <name>', 'of this task (repeatable)', collect)
    .option('--state <state>', `${STATES.join(', ')}, or unsuccessful: dead, timed_out, failed (repeatable)`, collect)
    .option('--priority <priority>', 'a level such as high, or a number (repeatable)', collect)
  for (const key of MOMENT_KEYS) command.option(`${optionOf(key)} <when>`, MOMENTS[key])
  return command.option('--all', 'all jobs: needed where a command would otherwise change every job by an oversight')
}

/** Takes each value of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Whether any condition was given, or that all are meant. */
export function isFiltered(flags: FilterFlags): boolean {
  return KEYS.some((key) => flags[key] !== undefined)
}

/**
 * The filter of the library.
 *
 * @throws TriphammerError `INVALID_OPTION`, `INVALID_DURATION`; what the library checks, it checks
 */
export function filterOf(flags: FilterFlags, clock: Clock): JobFilterInput {
  const { queue, task, state, priority, all } = flags
  const moments = MOMENT_KEYS.flatMap((key) => (flags[key] === undefined ? [] : [[key, momentOf(flags[key], optionOf(key), clock.now())]]))
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(task === undefined ? {} : { task }),
    // Text may be any: the library refuses what is no state.
    ...(state === undefined ? {} : { state: state as NonNullable<JobFilterInput['state']> }),
    ...(priority === undefined ? {} : { priority: priority.map(priorityOf) }),
    ...(Object.fromEntries(moments) as JobFilterInput),
    ...(all ? { all } : {}),
  }
}

/** A priority as the library takes it. It refuses what is neither a level nor a number of its range. */
export function priorityOf(text: string): Priority {
  return /^[+-]?\d+$/.test(text) ? Number(text) : (text as Level)
}

// An amount and a unit: no moment begins so.
const LENGTH = /^\s*\d+(?:\.\d+)?\s*[a-z]/i

function momentOf(text: string, option: string, now: number): number {
  if (LENGTH.test(text)) return Math.max(0, now - parseDuration(text, option))
  if (/^\d{4}-/.test(text)) return parseInstant(text, option)
  throw new TriphammerError(
    'INVALID_OPTION',
    `${option}: ${show(text)} is neither a moment such as 2026-03-01T08:00:00Z nor a time ago such as 90s, 4h or 7d`,
  )
}

function optionOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
