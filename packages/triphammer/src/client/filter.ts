import { TriphammerError } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import { checkOptions } from '../core/options.ts'
import { type Priority, parsePriority } from '../core/priority.ts'
import { type JobState, STATES, UNSUCCESSFUL } from '../core/state.ts'
import type { AnyTask } from '../core/task.ts'
import { checkName, show } from '../core/text.ts'
import type { JobFilter } from '../store/admin.ts'

/** @inline */
type OneOrMany<T> = T | readonly T[]

/** Which jobs, as people write it. Every condition given must hold. */
export interface JobFilterInput {
  /** One of these ids. */
  readonly id?: OneOrMany<string>
  /** In one of these queues. */
  readonly queue?: OneOrMany<string>
  /** Of one of these tasks, or tasks of these names. */
  readonly task?: OneOrMany<string | AnyTask>
  /** In one of these states; `'unsuccessful'` means dead, timed_out and failed. */
  readonly state?: OneOrMany<JobState | 'unsuccessful'>
  /** Of exactly one of these priorities. */
  readonly priority?: OneOrMany<Priority>
  /** Created before this moment, exclusive. */
  readonly createdBefore?: Instant
  /** Created at this moment or later. */
  readonly createdAfter?: Instant
  /** Due before this moment, exclusive. */
  readonly runBefore?: Instant
  /** Due at this moment or later. */
  readonly runAfter?: Instant
  /** Ended before this moment, exclusive. */
  readonly endedBefore?: Instant
  /** Ended at this moment or later. */
  readonly endedAfter?: Instant
  /** Running, under a lease that ends before this moment. */
  readonly leaseBefore?: Instant
  /** Says that no condition is meant: needed where a command would otherwise change every job by an oversight. */
  readonly all?: true
}

/** The jobs that a command is about: an id, some ids, or a filter. */
export type Target = string | readonly string[] | JobFilterInput

const MOMENTS = ['createdBefore', 'createdAfter', 'runBefore', 'runAfter', 'endedBefore', 'endedAfter', 'leaseBefore'] as const
const KEYS = ['id', 'queue', 'task', 'state', 'priority', ...MOMENTS, 'all']

/**
 * The store's form of a filter.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`, `INVALID_ID`, `INVALID_NAME`
 */
export function parseFilter(input: JobFilterInput): JobFilter {
  checkOptions(input, KEYS, 'filter')
  const { id, queue, task, state, priority, all } = input
  if (all !== undefined && all !== true)
    throw new TriphammerError('INVALID_OPTION', `filter: all: ${show(all)} is not true; leave it out or say all: true`)
  const moments = MOMENTS.flatMap((key) => (input[key] === undefined ? [] : [[key, parseInstant(input[key], `filter: ${key}`)]]))
  return {
    ...(id === undefined ? {} : { ids: list(id).map((one) => parseId(one, 'filter: id')) }),
    ...(queue === undefined ? {} : { queues: list(queue).map((one) => checkName(one, 'filter: queue')) }),
    ...(task === undefined ? {} : { tasks: list(task).map((one) => taskName(one, 'filter: task')) }),
    ...(state === undefined ? {} : { states: list(state).flatMap(statesOf) }),
    ...(priority === undefined ? {} : { priorities: list(priority).map((one) => parsePriority(one, 'filter: priority')) }),
    ...Object.fromEntries(moments),
  }
}

/** A target's filter, and its ids if it was given as ids. @throws TriphammerError as {@link parseFilter}, and for an empty filter */
export function parseTarget(target: Target): { readonly filter: JobFilter; readonly ids?: readonly string[] } {
  if (typeof target === 'string' || isList(target)) {
    const ids = [...new Set(list(target).map((id) => parseId(id)))]
    return { filter: { ids }, ids }
  }
  const filter = parseFilter(target)
  if (Object.keys(filter).length === 0 && !target.all) {
    throw new TriphammerError(
      'INVALID_OPTION',
      'the filter is empty and would change every job; give a condition, or { all: true } if that is meant',
    )
  }
  return { filter }
}

function list<T>(value: OneOrMany<T>): readonly T[] {
  return isList(value) ? value : [value]
}

// Array.isArray does not narrow readonly arrays.
function isList<T>(value: OneOrMany<T> | JobFilterInput): value is readonly T[] {
  return Array.isArray(value)
}

/** The name of a task given by itself or by its name. @throws TriphammerError `INVALID_NAME`, `TEXT_INVALID` */
export function taskName(task: string | AnyTask, what: string): string {
  return checkName(typeof task === 'object' && task !== null ? task.name : task, what)
}

function statesOf(state: JobState | 'unsuccessful'): readonly JobState[] {
  if (state === 'unsuccessful') return UNSUCCESSFUL
  if (STATES.includes(state)) return [state]
  throw new TriphammerError('INVALID_OPTION', `filter: state ${show(state)} is not one of ${STATES.join(', ')}, unsuccessful`)
}
