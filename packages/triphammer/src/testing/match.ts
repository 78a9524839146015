import { type Duration, parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import { checkInteger, checkOptions } from '../core/options.ts'
import { type Priority, parsePriority } from '../core/priority.ts'
import { type JobState, STATES } from '../core/state.ts'
import type { AnyTask } from '../core/task.ts'
import { checkName, show } from '../core/text.ts'
import { differences, display } from './differences.ts'
import type { TestJob } from './job.ts'

/** What is expected of a job beside its task and its payload. Everything given must hold. */
export interface JobMatch {
  /** Default: `'pending'`, which covers jobs that are due later and those that wait for another attempt. `'any'`: all. */
  readonly state?: JobState | readonly JobState[] | 'any'
  /** Its id. */
  readonly id?: string
  /** Its queue. */
  readonly queue?: string
  /** Its priority. */
  readonly priority?: Priority
  /** The moment at which the job falls due, exactly. */
  readonly runAt?: Instant
  /** The same, counted from the moment at which it was enqueued. */
  readonly delay?: Duration
  /** Attempts that it has, at most. */
  readonly maxAttempts?: number
}

/** What is expected of a job, checked. */
export interface Expectation {
  readonly task: string | undefined
  readonly states: readonly JobState[]
  /** What else is expected, by name: as a message shows it, and what is wrong with a job in that respect. */
  readonly facts: readonly Fact[]
}

interface Fact {
  readonly name: string
  readonly expected: unknown
  read(job: TestJob): unknown
}

const MATCH_KEYS = ['state', 'id', 'queue', 'priority', 'runAt', 'delay', 'maxAttempts'] as const

/**
 * Checks what is expected of a job.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`, `INVALID_DURATION`, `INVALID_NAME`
 */
export function expectationOf(task: AnyTask | undefined, payload: unknown, match: JobMatch, what: string): Expectation {
  checkOptions(match, MATCH_KEYS, what)
  const { id, queue, priority, runAt, delay, maxAttempts } = match
  const facts: Fact[] = []
  const expect = (name: string, expected: unknown, read: (job: TestJob) => unknown): void => void facts.push({ name, expected, read })
  if (payload !== undefined) expect('payload', payload, (job) => job.payload)
  if (id !== undefined) expect('id', id, (job) => job.id)
  if (queue !== undefined) expect('queue', checkName(queue, `${what}: queue`), (job) => job.queue)
  if (priority !== undefined) expect('priority', parsePriority(priority, `${what}: priority`), (job) => job.priority)
  if (runAt !== undefined) expect('runAt', new Date(parseInstant(runAt, `${what}: runAt`)).toISOString(), (job) => job.runAt.toISOString())
  if (delay !== undefined)
    expect('delay', parseDuration(delay, `${what}: delay`), ({ runAt: due, createdAt }) => Number(due) - Number(createdAt))
  if (maxAttempts !== undefined) expect('maxAttempts', checkInteger(maxAttempts, `${what}: maxAttempts`, 1), (job) => job.maxAttempts)
  return { task: taskName(task, what), states: statesOf(match.state ?? 'pending', what), facts }
}

/** What is wrong with a job of the expected task: one line for each place, none if the job is the expected one. */
export function mismatches(job: TestJob, { states, facts }: Expectation): readonly string[] {
  return [
    ...(states.includes(job.state) ? [] : [`state is ${display(job.state)}, expected ${describeStates(states)}`]),
    ...facts.flatMap(({ name, expected, read }) => differences(name, expected, read(job))),
  ]
}

/** `pending`, `pending or running`. */
export function describeStates(states: readonly JobState[]): string {
  return states.join(' or ')
}

function taskName(task: AnyTask | undefined, what: string): string | undefined {
  if (task === undefined) return undefined
  if (typeof task === 'object' && task !== null && typeof task.name === 'string') return task.name
  throw new TriphammerError('INVALID_OPTION', `${what}: ${show(task)} is not a task; give what defineTask() returned`)
}

function statesOf(state: JobState | readonly JobState[] | 'any', what: string): readonly JobState[] {
  if (state === 'any') return STATES
  const states = typeof state === 'string' ? [state] : state
  const wrong = Array.isArray(states) ? states.find((one) => !STATES.includes(one)) : states
  if (wrong === undefined && states.length > 0) return states
  throw new TriphammerError('INVALID_OPTION', `${what}: state: ${show(wrong ?? '[]')} is not one of ${STATES.join(', ')}, any`)
}
