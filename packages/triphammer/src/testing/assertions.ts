// biome-ignore lint/style/noRestrictedImports: it throws what every test runner shows as a failed assertion; it asserts nothing itself
import { AssertionError } from 'node:assert'
import { checkInteger } from '../core/options.ts'
import { STATES } from '../core/state.ts'
import type { AnyTask } from '../core/task.ts'
import { askedPart, display } from './differences.ts'
import { countTasks, type TestJob } from './job.ts'
import { describeStates, type Expectation, expectationOf, type JobMatch, mismatches } from './match.ts'

/** What `assertEnqueued` expects beside a task and a payload. */
export interface EnqueuedMatch extends JobMatch {
  /** Exactly so many jobs. Default: one or more. */
  readonly count?: number
}

/** Assertions about the jobs of a store. They throw an `AssertionError` of `node:assert`. */
export interface Assertions {
  enqueued(task?: AnyTask, match?: JobMatch): readonly TestJob[]
  assertEnqueued(task: AnyTask, payload?: unknown, match?: EnqueuedMatch): TestJob
  assertNotEnqueued(task?: AnyTask, payload?: unknown, match?: JobMatch): void
}

/** A job of the expected task and what is wrong with it. */
interface Candidate {
  readonly job: TestJob
  readonly wrong: readonly string[]
}

/** Makes {@link Assertions} about the jobs that `read` gives. */
export function createAssertions(read: () => readonly TestJob[]): Assertions {
  const candidates = (expectation: Expectation, jobs = read()): readonly Candidate[] =>
    jobs
      .filter(({ task }) => expectation.task === undefined || task === expectation.task)
      .map((job) => ({ job, wrong: mismatches(job, expectation) }))
  const fitting = (all: readonly Candidate[]): readonly TestJob[] => all.filter(({ wrong }) => wrong.length === 0).map(({ job }) => job)

  const assertions: Assertions = {
    enqueued: (task, match = {}) => fitting(candidates(expectationOf(task, undefined, match, 'enqueued'))),
    assertEnqueued(task, payload, { count, ...match } = {}) {
      if (count !== undefined) checkInteger(count, 'assertEnqueued: count', 1)
      const expectation = expectationOf(task, payload, match, 'assertEnqueued')
      const jobs = read()
      const all = candidates(expectation, jobs)
      const found = fitting(all)
      if (found.length > 0 && (count === undefined || found.length === count)) return found[0]!
      const options = { operator: 'assertEnqueued', stackStartFn: assertions.assertEnqueued }
      if (found.length > 0) {
        const message = `${describe(found.length, expectation)}, expected ${count}\n${list(all)}`
        throw new AssertionError({ ...options, message, actual: found.length, expected: count })
      }
      throw new AssertionError({
        ...options,
        message: `${describe(0, expectation)}\n${whatThereIs(all, jobs)}`,
        ...closest(all, expectation),
      })
    },
    assertNotEnqueued(task, payload, match = {}) {
      const expectation = expectationOf(task, payload, match, 'assertNotEnqueued')
      const found = candidates(expectation).filter(({ wrong }) => wrong.length === 0)
      if (found.length === 0) return
      const message = `${describe(found.length, expectation)}, expected none\n${list(found)}`
      throw new AssertionError({
        ...{ message, actual: found.length, expected: 0 },
        ...{ operator: 'assertNotEnqueued', stackStartFn: assertions.assertNotEnqueued },
      })
    },
  }
  return assertions
}

const LISTED = 5

// no pending job of task send_email with payload { to: 'a@b.c' } and queue 'mail'
function describe(count: number, { task, states, facts }: Expectation): string {
  const what = `${count === 0 ? 'no' : count} ${states.length === 1 ? `${states[0]} ` : ''}${count > 1 ? 'jobs' : 'job'}`
  const of = task === undefined ? '' : ` of task ${task}`
  const inState = states.length > 1 && states.length < STATES.length ? ` is ${describeStates(states)}` : ''
  const expected = facts.map(({ name, expected: value }) => `${name} ${display(value)}`).join(' and ')
  const having = expected === '' ? '' : ` with ${expected}`
  return `${what}${of}${inState}${having}`
}

function whatThereIs(all: readonly Candidate[], jobs: readonly TestJob[]): string {
  if (jobs.length === 0) return 'nothing has been enqueued at all'
  const others = jobs.filter((job) => all.every((candidate) => candidate.job !== job))
  const rest = others.length === 0 ? [] : [`jobs of other tasks: ${countTasks(others)}`]
  return [...(all.length === 0 ? ['none of this task has been enqueued'] : [list(all)]), ...rest].join('\n')
}

function list(all: readonly Candidate[]): string {
  const nearest = all.toSorted(byNearness).slice(0, LISTED)
  const lines = nearest.flatMap(({ job, wrong }) => [showJob(job), ...wrong.map((line) => `    ${line}`)])
  return [...lines, ...(all.length > LISTED ? [`  … and ${all.length - LISTED} more`] : [])].join('\n')
}

function showJob({ id, task, state, queue, priority, runAt, payload }: TestJob): string {
  return `  ${task} ${display(payload)}: ${state}, queue ${queue}, priority ${priority}, due ${runAt.toISOString()}, id ${id}`
}

// What a runner shows as a difference: of the job that comes nearest, what was asked about.
function closest(all: readonly Candidate[], { states, facts }: Expectation): { readonly actual?: unknown; readonly expected?: unknown } {
  const job = all.toSorted(byNearness)[0]?.job
  if (!job) return {}
  const isInState = states.includes(job.state)
  return {
    actual: {
      ...(isInState ? {} : { state: job.state }),
      ...Object.fromEntries(facts.map(({ name, expected, read }) => [name, askedPart(expected, read(job))])),
    },
    expected: {
      ...(isInState ? {} : { state: describeStates(states) }),
      ...Object.fromEntries(facts.map(({ name, expected }) => [name, expected])),
    },
  }
}

function byNearness(a: Candidate, b: Candidate): number {
  return a.wrong.length - b.wrong.length
}
