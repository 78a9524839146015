import { type Clock, sleep } from '../core/clock.ts'
import { parseDuration } from '../core/duration.ts'
import { type ErrorCode, TriphammerError } from '../core/errors.ts'
import { cancelFailure, type JobFailure, toFailure } from '../core/failure.ts'
import { parseInstant } from '../core/instant.ts'
import { encodeJson } from '../core/json.ts'
import { hearRejection } from '../core/late.ts'
import type { Logger } from '../core/logger.ts'
import type { JobOutcome } from '../core/outcome.ts'
import type { FinalState } from '../core/state.ts'
import type { JobSpec } from '../core/task.ts'
import { checkReason, show } from '../core/text.ts'
import type { Store, StoreTx } from '../store/store.ts'
import type { FinishResult, JobId, LeaseRef, NewJob, Outcome, OutcomeKind, Run } from '../store/types.ts'
import type { FinishedJob, Hooks } from './plugin.ts'

/** What settling needs to know of a run. */
export interface SettledRun {
  readonly lease: LeaseRef
  readonly id: JobId
  readonly task: string
  readonly queue: string
  readonly payload: string
  readonly attempt: number
}

/** A run and what became of it. */
export interface Ending {
  readonly run: SettledRun
  readonly outcome: Outcome
}

/** Ends runs: follow-ups go with the outcome, a requested cancel takes its place, events follow the commit. */
export interface Settler {
  /** The outcomes, in order, with the jobs that follow from them. At once where nobody has follow-ups. */
  withFollowUps(endings: readonly Ending[]): readonly Outcome[] | Promise<readonly Outcome[]>
  /** Tells observers what has been committed. */
  announce(ending: Ending, result: FinishResult): void
  /** All of it for a list of endings. Within `tx` no event fires. */
  finish(endings: readonly Ending[], tx?: StoreTx): Promise<readonly FinishResult[]>
}

/** What a {@link Settler} works with. */
export interface SettlerOptions {
  readonly store: Store
  readonly hooks: Hooks
  readonly clock: Clock
  readonly log: Logger
  /** Makes the jobs of follow-ups: `Enqueuer.prepare`. */
  readonly prepare: (specs: readonly JobSpec[]) => Promise<readonly NewJob[]>
}

/** Makes a {@link Settler}. */
export function createSettler({ store, hooks, clock, log, prepare }: SettlerOptions): Settler {
  const withFollowUps: Settler['withFollowUps'] = (endings) =>
    hooks.followUps.length === 0 ? endings.map(({ outcome }) => outcome) : Promise.all(endings.map(addFollowUps))
  const addFollowUps = async (ending: Ending): Promise<Outcome> => {
    const { outcome } = ending
    const finished = finishedJob(ending)
    if (!finished) return outcome
    const spawn = [...(outcome.spawn ?? [])]
    for (const followUp of hooks.followUps) {
      try {
        spawn.push(...(await soon(clock, prepare(specsOf(followUp(finished))))))
      } catch (error) {
        log.error({ job: finished.id, task: finished.task, error }, 'a follow-up failed; the job ends without it')
      }
    }
    return { ...outcome, spawn }
  }

  const announce = ({ run, outcome }: Ending, result: FinishResult): void => {
    const { events } = hooks
    const type = result.state === 'stale' ? 'job.lost' : EVENT_OF[outcome.kind]
    if (!events.heard(type)) return
    const { startedMs, endedMs } = outcome
    events.emit(type, {
      job: { id: run.id, task: run.task, queue: run.queue },
      at: clock.now(),
      attempt: run.attempt,
      ...(startedMs === undefined || endedMs === undefined ? {} : { durationMs: endedMs - startedMs }),
      ...detailOf(outcome),
    } as never) // the map above and detailOf go together by kind; the compiler cannot see that
  }

  return {
    withFollowUps,
    announce,
    async finish(endings, tx) {
      if (endings.length === 0) return []
      const first = await store.finish(await withFollowUps(endings), tx)
      const final = await Promise.all(
        endings.map(async (ending, i): Promise<[Ending, FinishResult]> => {
          if (first[i]!.state !== 'cancel') return [ending, first[i]!]
          const instead: Ending = { run: ending.run, outcome: asCancelled(ending.outcome) }
          const [result] = await store.finish(await withFollowUps([instead]), tx)
          return [instead, result!]
        }),
      )
      if (!tx) for (const [ending, result] of final) announce(ending, result)
      return final.map(([, result]) => result)
    },
  }
}

/** A schema or middleware that has not let the jobs of a follow-up through after this long holds up no other job's end. */
const FOLLOW_UP_WAIT_MS = 5_000

async function soon(clock: Clock, jobs: Promise<readonly NewJob[]>): Promise<readonly NewJob[]> {
  const over = new AbortController()
  const tooLate = async (): Promise<readonly NewJob[]> => {
    await sleep(clock, FOLLOW_UP_WAIT_MS, over.signal)
    if (over.signal.aborted) return []
    throw new TriphammerError('TIMED_OUT', `its jobs were not ready after ${FOLLOW_UP_WAIT_MS} ms: a schema or enqueue middleware hangs`)
  }
  try {
    return await Promise.race([jobs, tooLate()])
  } finally {
    over.abort()
  }
}

function specsOf(returned: unknown): readonly JobSpec[] {
  hearRejection(returned, () => {})
  if (Array.isArray(returned)) return returned as readonly JobSpec[]
  throw new TriphammerError('INVALID_OPTION', `a follow-up returned ${show(returned)}; it must return a list of jobs, at once`)
}

const EVENT_OF = {
  completed: 'job.completed',
  retry: 'job.retrying',
  snooze: 'job.snoozed',
  release: 'job.released',
  dead: 'job.dead',
  timed_out: 'job.timed_out',
  cancelled: 'job.cancelled',
  failed: 'job.failed',
} as const satisfies Record<Outcome['kind'], string>

function detailOf(outcome: Outcome): object {
  switch (outcome.kind) {
    case 'completed':
      return outcome.result === undefined ? {} : { result: outcome.result }
    case 'retry':
      return { error: outcome.error, ...(outcome.delayMs === undefined ? {} : { delayMs: outcome.delayMs }) }
    case 'snooze':
      return { delayMs: outcome.delayMs }
    case 'dead':
    case 'timed_out':
    case 'failed':
      return { error: outcome.error }
    case 'cancelled':
      return outcome.reason === undefined ? {} : { reason: outcome.reason }
    case 'release':
      return {}
  }
}

const FINAL_STATE: Partial<Record<Outcome['kind'], FinalState>> = {
  completed: 'completed',
  dead: 'dead',
  timed_out: 'timed_out',
  cancelled: 'cancelled',
  failed: 'failed',
}

function finishedJob({ run, outcome }: Ending): FinishedJob | undefined {
  const state = FINAL_STATE[outcome.kind]
  if (!state) return undefined
  const { id, task, queue, attempt, payload } = run
  const error = 'error' in outcome ? outcome.error : outcome.kind === 'cancelled' ? cancelFailure(outcome.reason) : undefined
  const result = outcome.kind === 'completed' ? outcome.result : undefined
  return { id, task, queue, state, attempt, payload, ...(error ? { error } : {}), ...(result === undefined ? {} : { result }) }
}

/** The outcome of a run of which a cancel was requested, whatever it would have been. */
export function asCancelled({ lease, startedMs, endedMs }: Outcome): Outcome {
  return {
    lease,
    kind: 'cancelled',
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(endedMs === undefined ? {} : { endedMs }),
  }
}

/**
 * The store's form of what a handler or a person said became of a run.
 *
 * @param maxBytes the longest result in bytes of JSON; `undefined` where the store keeps none
 * @throws TriphammerError `PAYLOAD_NOT_JSON`, `TEXT_INVALID`, `PAYLOAD_TOO_LARGE` for a result that cannot be kept;
 * `INVALID_OPTION`, `INVALID_DURATION`, `TEXT_INVALID` for an outcome that is none
 */
export function encodeOutcome(outcome: JobOutcome, maxBytes: number | undefined): OutcomeKind {
  switch (outcome?.kind) {
    case 'completed':
      if (outcome.result === undefined || maxBytes === undefined) return { kind: 'completed' }
      return { kind: 'completed', result: encodeJson(outcome.result, 'the result', maxBytes) }
    case 'retry': {
      const error = failureOf(outcome.error, 'the attempt failed')
      if (outcome.at !== undefined) return { kind: 'retry', error, at: parseInstant(outcome.at, 'retry: at') }
      return { kind: 'retry', error, delayMs: parseDuration(outcome.delayMs ?? 0, 'retry: delay') }
    }
    case 'dead':
      return { kind: 'dead', error: failureOf(outcome.error, 'the job failed') }
    case 'timed_out':
      return { kind: 'timed_out', error: failureOf(outcome.error, 'the job timed out') }
    case 'snooze':
      return { kind: 'snooze', delayMs: parseDuration(outcome.delayMs, 'snooze') }
    case 'cancelled': {
      if (outcome.reason === undefined) return { kind: 'cancelled' }
      return { kind: 'cancelled', reason: checkReason(outcome.reason, 'cancelled: reason') }
    }
    default:
      throw new TriphammerError(
        'INVALID_OPTION',
        `${show(outcome)} is not an outcome; give completed(), retry(), dead(), timedOut(), cancelled() or snooze()`,
      )
  }
}

function failureOf(error: unknown, otherwise: string): JobFailure {
  return error === undefined ? { name: 'Error', message: otherwise } : toFailure(error)
}

/**
 * What becomes of a run whose lease ran out: again at once, or dead when its attempts are used up. The attempt counts, so a
 * job that kills its workers comes to an end.
 *
 * @param maxAttempts the job's own, or fewer where a worker lowers it
 */
export function expiredOutcome(run: Run, maxAttempts: number): Outcome {
  if (run.cancelRequested) return { lease: run.lease, kind: 'cancelled' }
  const error: JobFailure = {
    name: 'TriphammerError',
    code: 'LEASE_EXPIRED' satisfies ErrorCode,
    message: `the lease of attempt ${run.attempt} ran out: its worker crashed or lost touch with the store`,
  }
  if (run.attempt >= maxAttempts) return { lease: run.lease, kind: 'dead', error }
  return { lease: run.lease, kind: 'retry', error, delayMs: 0 }
}
