import { sessionInfo } from '../../conformance/builders.ts'
import type { ManualClock } from '../../src/core/manual-clock.ts'
import type { JobFilter } from '../../src/store/admin.ts'
import type { Store } from '../../src/store/store.ts'
import type { JobId, LeaseRef, NewJob, Outcome, Run, StoreTx } from '../../src/store/types.ts'
import type { FilterStep, JobStep, OutcomeStep, Step, WriteStep } from './steps.ts'

/** What both stores know alike: the names of jobs and the order of runs. Tokens are each store's own. */
export interface History {
  readonly jobs: JobId[]
  readonly runs: { readonly id: JobId; readonly tokens: readonly string[] }[]
}

/** One of the stores under comparison. */
export interface Side {
  readonly store: Store
  /** Which of the tokens of a run are its own. */
  readonly index: number
}

/** Does a step on one side and returns its answer, without what each store makes up for itself. */
export async function perform(step: Step, side: Side, history: History, clock: ManualClock): Promise<Answer> {
  const { store } = side
  switch (step.kind) {
    case 'claim':
      return claim(step, side, history, clock)
    case 'extend': {
      const leases = step.runs.flatMap((number) => leaseOf(number, side, history))
      const progress = step.progress ? { progress: new Map(leases.map(({ id }, at) => [id, JSON.stringify({ at })])) } : {}
      return { value: await store.extend(leases, { ...progress, ...(step.leaseMs === undefined ? {} : { leaseMs: step.leaseMs }) }) }
    }
    case 'reclaim': {
      const { session, limit, leaseMs, queues } = step
      const runs = await store.reclaim({ session: SESSIONS[session]!, limit, leaseMs, ...(queues === undefined ? {} : { queues }) })
      return { value: runs.map(withoutToken), runs }
    }
    case 'pause':
      return { value: await store.admin.setQueue(step.queue, { paused: step.by === undefined ? {} : { by: step.by } }) }
    case 'resume':
      return { value: await store.admin.setQueue(step.queue, { paused: null }) }
    case 'beat':
      return { value: await pulse(store, step.session) }
    case 'maintain':
      // Each is heard of first: when exactly a session is forgotten, no store has to say.
      for (const session of SESSIONS.keys()) await pulse(store, session)
      return { value: await store.maintain({ session: SESSIONS[0], limit: 1_000 }) }
    case 'transaction':
      return { value: await transaction(step, side, history, clock) }
    case 'advance':
    case 'turnBack':
      return { value: undefined }
    default:
      return { value: await write(step, side, history, clock) }
  }
}

/** What a step answered, and the runs that it handed out. */
export interface Answer {
  readonly value: unknown
  readonly runs?: readonly Run[]
}

/** The jobs that a step names for the first time, in the order in which they get their names. */
function newcomers(step: Step): readonly JobStep[] {
  switch (step.kind) {
    case 'enqueue':
      return step.jobs
    case 'finish':
      return step.outcomes.flatMap(({ spawn }) => spawn)
    case 'claim':
      return step.finish.flatMap(({ spawn }) => spawn)
    case 'transaction':
      return step.writes.flatMap(newcomers)
    default:
      return []
  }
}

/** The id of a job, the same on both sides, so that no side makes it up. Ids rise with the numbers. */
function jobId(number: number): JobId {
  return `00000000-0000-7000-9000-${number.toString(16).padStart(12, '0')}`
}

const SESSIONS = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b'] as const

async function claim(step: Step & { kind: 'claim' }, side: Side, history: History, clock: ManualClock): Promise<Answer> {
  const { session, queue, limit, leaseMs, tasks, weights } = step
  const { runs, finished } = await side.store.claim({
    ...{ session: SESSIONS[session]!, queue, limit, leaseMs },
    ...(tasks === undefined ? {} : { tasks }),
    ...(weights === undefined ? {} : { weights }),
    ...(step.finish.length === 0 ? {} : { finish: outcomesOf(step.finish, side, history, clock) }),
  })
  return { value: { runs: runs.map(withoutToken), finished }, runs }
}

async function pulse({ beat }: Store, session: number): Promise<unknown> {
  const { changes, paused } = await beat(sessionInfo({ id: SESSIONS[session]!, queues: ['mail', 'Mail', 'other'] }))
  return { changes, paused }
}

class RolledBack extends Error {}

async function transaction(step: Step & { kind: 'transaction' }, side: Side, history: History, clock: ManualClock): Promise<unknown> {
  const answers: unknown[] = []
  try {
    await side.store.transaction(async (tx) => {
      for (const one of step.writes) answers.push(await write(one, side, history, clock, tx))
      if (!step.commit) throw new RolledBack()
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
  return answers
}

async function write(step: WriteStep, side: Side, history: History, clock: ManualClock, tx?: StoreTx): Promise<unknown> {
  const { store } = side
  switch (step.kind) {
    case 'enqueue':
      return store.enqueue(jobsOf(step.jobs, history, clock), tx)
    case 'finish':
      return store.finish(outcomesOf(step.outcomes, side, history, clock), tx)
    case 'apply': {
      const { changed, refused } = await store.admin.apply(filterOf(step.filter, history), step.command, { limit: step.limit }, tx)
      return { changed, refused }
    }
    case 'remove': {
      const slice = { limit: step.limit, force: step.force }
      const { changed, refused } = await store.admin.remove(filterOf(step.filter, history), slice, tx)
      return { changed, refused }
    }
  }
}

// A job is named by its place among all newcomers, found by identity: one step may hold several lists of them.
const named = new WeakMap<JobStep, JobId>()

/** Gives the newcomers of a step their names, once, before either side acts. */
export function nameNewcomers(step: Step, history: History): void {
  for (const one of newcomers(step)) {
    const id = jobId(history.jobs.length)
    named.set(one, id)
    history.jobs.push(id)
  }
}

function jobsOf(steps: readonly JobStep[], history: History, clock: ManualClock): NewJob[] {
  return steps.map((one) => {
    const again = one.again === undefined ? undefined : history.jobs[one.again % history.jobs.length]
    return {
      id: again ?? named.get(one)!,
      ...{ queue: one.queue, task: one.task, priority: one.priority },
      payload: JSON.stringify({ of: one.task }),
      maxAttempts: 3,
      ...(one.inMs > 0 ? { delayMs: one.inMs } : one.inMs < 0 ? { runAt: clock.now() + one.inMs } : {}),
      ...(one.retainMs === undefined ? {} : { retainMs: one.retainMs }),
      ...(again === undefined ? {} : { repeat: true }),
    }
  })
}

// At most one outcome per job.
function outcomesOf(steps: readonly OutcomeStep[], side: Side, history: History, clock: ManualClock): Outcome[] {
  const outcomes = new Map<JobId, Outcome>()
  for (const { run, outcome, times, spawn } of steps) {
    for (const lease of leaseOf(run, side, history)) {
      const more = spawn.length === 0 ? {} : { spawn: jobsOf(spawn, history, clock) }
      if (!outcomes.has(lease.id)) outcomes.set(lease.id, { lease, ...outcome, ...times, ...more })
    }
  }
  return [...outcomes.values()]
}

function leaseOf(number: number, side: Side, history: History): LeaseRef[] {
  return recentRun(number, history).map(({ id, tokens }) => ({ id, token: tokens[side.index]! }))
}

// The latest runs have the lowest numbers: most of them are still held.
function recentRun(number: number, { runs }: History): History['runs'] {
  const run = runs.at(-1 - (number % Math.max(1, Math.min(runs.length, 6))))
  return run ? [run] : []
}

function filterOf({ jobs, runs, ...rest }: FilterStep, history: History): JobFilter {
  if (runs) return { ...rest, ids: runs.flatMap((number) => recentRun(number, history)).map(({ id }) => id) }
  if (jobs) return { ...rest, ids: jobs.flatMap((number) => history.jobs[number % Math.max(1, history.jobs.length)] ?? []) }
  return rest
}

function withoutToken({ lease, payload, ...run }: Run): unknown {
  return { ...run, lease: lease.id, payload: JSON.parse(payload) }
}
