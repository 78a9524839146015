import fc from 'fast-check'
import type { JobFailure } from '../../src/core/failure.ts'
import { DEFAULT_WEIGHTS, type Weights } from '../../src/core/priority.ts'
import { type JobState, STATES } from '../../src/core/state.ts'
import type { AdminCommand, JobFilter } from '../../src/store/admin.ts'
import type { OutcomeKind } from '../../src/store/types.ts'

/** A job to enqueue; `again` repeats one of those that were enqueued before, by its number. */
export interface JobStep {
  readonly queue: string
  readonly task: string
  readonly priority: number
  /** Added to the store's clock, or, when negative, the run time before now. */
  readonly inMs: number
  readonly retainMs: number | undefined
  readonly again: number | undefined
}

/** An outcome of one of the runs so far, by its number: of old ones too, so that many are stale. */
export interface OutcomeStep {
  readonly run: number
  readonly outcome: OutcomeKind
  readonly times: { readonly startedMs?: number; readonly endedMs?: number }
  readonly spawn: readonly JobStep[]
}

/** A write that can be part of a transaction. */
export type WriteStep =
  | { readonly kind: 'enqueue'; readonly jobs: readonly JobStep[] }
  | { readonly kind: 'finish'; readonly outcomes: readonly OutcomeStep[] }
  | { readonly kind: 'apply'; readonly filter: FilterStep; readonly command: AdminCommand; readonly limit: number }
  | { readonly kind: 'remove'; readonly filter: FilterStep; readonly force: boolean; readonly limit: number }

/** A filter that names jobs by their numbers, or by those of runs of theirs. */
export type FilterStep = Omit<JobFilter, 'ids'> & { readonly jobs?: readonly number[]; readonly runs?: readonly number[] }

/** One step of a history. */
export type Step =
  | WriteStep
  | {
      readonly kind: 'claim'
      readonly session: number
      readonly queue: string
      readonly limit: number
      readonly leaseMs: number
      readonly tasks: readonly string[] | undefined
      readonly weights: Weights | undefined
      readonly random: number
      readonly finish: readonly OutcomeStep[]
    }
  | { readonly kind: 'extend'; readonly runs: readonly number[]; readonly leaseMs: number | undefined; readonly progress: boolean }
  | {
      readonly kind: 'reclaim'
      readonly session: number
      readonly limit: number
      readonly leaseMs: number
      readonly queues: readonly string[] | undefined
    }
  | { readonly kind: 'pause'; readonly queue: string; readonly by: string | undefined }
  | { readonly kind: 'resume'; readonly queue: string }
  | { readonly kind: 'beat'; readonly session: number }
  | { readonly kind: 'maintain' }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'turnBack'; readonly ms: number }
  | { readonly kind: 'transaction'; readonly writes: readonly WriteStep[]; readonly commit: boolean }

const QUEUES = ['mail', 'Mail', 'other'] as const
const TASKS = ['send', 'report'] as const
const queue = fc.oneof({ weight: 3, arbitrary: fc.constant(QUEUES[0]) }, { weight: 1, arbitrary: fc.constantFrom(...QUEUES) })
const task = fc.constantFrom(...TASKS)
const number = fc.nat({ max: 200 })
// Few and small, so that runs expire, retries fall due and retention ends within a history.
const span = fc.constantFrom(0, 1, 500, 1_000, 1_001, 60_000)
const session = fc.nat({ max: 1 })
const optional = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> => fc.oneof(fc.constant(undefined), value)
const rarely = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const failure: fc.Arbitrary<JobFailure> = fc.constantFrom(
  { name: 'Error', message: 'boom' },
  { name: 'TypeError', message: 'ü 🚂 "x"', code: 'E_X', stack: 'at somewhere' },
)
const reason = fc.constantFrom('not needed', 'asked for')

const job: fc.Arbitrary<JobStep> = fc.record({
  queue,
  task,
  priority: fc.constantFrom(-32_768, -20, -11, 0, 9, 10, 32_767),
  inMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.constantFrom(-5_000, 500, 1_000, 60_000) }),
  retainMs: fc.constantFrom(undefined, 0, 1, 1_000, 60_000),
  again: rarely(number),
})
const jobs = (maxLength: number): fc.Arbitrary<readonly JobStep[]> => fc.array(job, { maxLength })

const given = <Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value }

const completed: fc.Arbitrary<OutcomeKind> = optional(fc.constantFrom('"done"', '{"a":[1,null]}')).map((result) => ({
  kind: 'completed' as const,
  ...given('result', result),
}))
const outcomeKind: fc.Arbitrary<OutcomeKind> = fc.oneof(
  { weight: 3, arbitrary: completed },
  fc.record({ kind: fc.constant('retry' as const), error: failure, delayMs: span }),
  fc.record({ kind: fc.constant('retry' as const), error: failure, at: fc.constantFrom(0, Date.UTC(2026, 0, 1, 0, 1)) }),
  fc.record({ kind: fc.constant('snooze' as const), delayMs: span }),
  fc.constant({ kind: 'release' as const }),
  fc.record({ kind: fc.constantFrom('dead' as const, 'timed_out' as const, 'failed' as const), error: failure }),
  optional(reason).map((why) => ({ kind: 'cancelled' as const, ...given('reason', why) })),
  optional(reason).map((why) => ({ kind: 'cancelled' as const, unstarted: true as const, ...given('reason', why) })),
  fc.record({ kind: fc.constant('failed' as const), error: failure, unstarted: fc.constant(true as const) }),
)
const outcome: fc.Arbitrary<OutcomeStep> = fc.record({
  run: number,
  outcome: outcomeKind,
  times: fc.constantFrom({}, { startedMs: 3 }, { startedMs: 1.5, endedMs: 12.25 }),
  spawn: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: jobs(2) }),
})
const outcomes = fc.array(outcome, { maxLength: 4 })

const filter: fc.Arbitrary<FilterStep> = fc.oneof(
  fc.array(number, { minLength: 1, maxLength: 4 }).map((numbers) => ({ jobs: numbers })),
  { weight: 4, arbitrary: fc.array(number, { minLength: 1, maxLength: 4 }).map((numbers) => ({ runs: numbers })) },
  fc.record({ queues: fc.subarray([...QUEUES]), states: fc.subarray<JobState>([...STATES], { minLength: 1 }) }),
  fc.record({ tasks: fc.subarray([...TASKS]) }),
)
const when = fc.oneof(
  fc.constant({}),
  span.map((delayMs) => ({ delayMs })),
  fc.constantFrom({ at: Date.UTC(2025, 11, 31) }, { at: Date.UTC(2026, 0, 1, 0, 2) }),
)
const command: fc.Arbitrary<AdminCommand> = fc.oneof(
  when.map((at) => ({ kind: 'retry' as const, ...at })),
  when.map((at) => ({ kind: 'reschedule' as const, ...at })),
  fc.record({ kind: fc.constantFrom('kill' as const, 'fail' as const), error: failure }),
  {
    weight: 3,
    arbitrary: fc
      .tuple(optional(reason), rarely(fc.constant(true)))
      .map(([why, force]) => ({ kind: 'cancel' as const, ...given('reason', why), ...given('force', force) })),
  },
  fc.constantFrom(-20, 5).map((priority) => ({ kind: 'reprioritise' as const, priority })),
)
const limit = fc.constantFrom(1, 3, 100)

const enqueue = fc.record({ kind: fc.constant('enqueue' as const), jobs: jobs(6) })
const finish = fc.record({ kind: fc.constant('finish' as const), outcomes })
const apply = fc.record({ kind: fc.constant('apply' as const), filter, command, limit })
const remove = fc.record({ kind: fc.constant('remove' as const), filter, force: fc.boolean(), limit: fc.constantFrom(1, 2) })
const write: fc.Arbitrary<WriteStep> = fc.oneof(enqueue, finish, apply, remove)

const claim: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('claim' as const),
  session,
  queue,
  limit: fc.constantFrom(0, 1, 3, 10),
  leaseMs: span,
  tasks: rarely(fc.subarray([...TASKS])),
  weights: rarely(fc.constantFrom(DEFAULT_WEIGHTS, { critical: 0, high: 1, normal: 0, low: 2.5, background: 0 })),
  random: fc.constantFrom(0, 0.2, 0.5, 0.8, 0.999_999),
  finish: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: outcomes }),
})

/** Any step. Those that make and move jobs are the most frequent. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: enqueue },
  { weight: 10, arbitrary: claim },
  { weight: 8, arbitrary: finish },
  { weight: 5, arbitrary: apply },
  { weight: 1, arbitrary: remove },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('extend' as const),
      runs: fc.array(number, { maxLength: 4 }),
      leaseMs: optional(span),
      progress: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('reclaim' as const),
      session,
      limit: fc.constantFrom(1, 2, 100),
      leaseMs: span,
      queues: rarely(fc.subarray([...QUEUES])),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause' as const), queue, by: optional(fc.constant('ann')) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resume' as const), queue }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('beat' as const), session }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('maintain' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: span }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('turnBack' as const), ms: span }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('transaction' as const),
      writes: fc.array(write, { maxLength: 4 }),
      commit: fc.boolean(),
    }),
  },
)
