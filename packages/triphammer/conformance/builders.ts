import type { JobFailure } from '../src/core/failure.ts'
import type { Ids } from '../src/core/ids.ts'
import type { ClaimRequest, NewJob, Outcome, ReclaimRequest, Run, SessionInfo } from '../src/store/types.ts'

/** The session that claims unless a test says otherwise. */
export const WORKER = '00000000-0000-7000-8000-00000000000a'
/** Another session. */
export const OTHER = '00000000-0000-7000-8000-00000000000b'
/** A lease's token that no claim ever made. */
export const NO_TOKEN = '00000000-0000-7000-8000-000000000000'

/** A job that is due at once. */
export function newJob(ids: Ids, over: Partial<NewJob> = {}): NewJob {
  return { id: ids.next(), task: 'send_email', queue: 'default', payload: '{"n":1}', priority: 0, maxAttempts: 3, ...over }
}

/** A claim of up to ten jobs of the queue `default`, for 60 s. */
export function request(over: Partial<ClaimRequest> = {}): ClaimRequest {
  return { session: WORKER, queue: 'default', limit: 10, leaseMs: 60_000, ...over }
}

/** A reclaim by another session, of up to ten runs of all queues, for 60 s. */
export function reclaimRequest(over: Partial<ReclaimRequest> = {}): ReclaimRequest {
  return { session: OTHER, limit: 10, leaseMs: 60_000, ...over }
}

/** A worker of the queue `default`. */
export function sessionInfo(over: Partial<SessionInfo> = {}): SessionInfo {
  return {
    id: WORKER,
    host: 'host-1',
    pid: 4711,
    startedAt: Date.UTC(2026, 0, 1),
    queues: ['default'],
    tasks: ['send_email'],
    concurrency: 10,
    running: 0,
    held: 0,
    idle: [],
    ...over,
  }
}

/** An error as it is stored. */
export function failure(message = 'boom'): JobFailure {
  return { name: 'TypeError', message, code: 'E_BOOM', stack: `TypeError: ${message}\n    at somewhere` }
}

/** The run succeeded. */
export function completed({ lease }: Run, result?: string): Outcome {
  return { lease, kind: 'completed', ...(result === undefined ? {} : { result }) }
}

/** One outcome of every kind for a run. */
export function everyOutcome({ lease }: Run): readonly Outcome[] {
  return [
    { lease, kind: 'completed', result: '"done"' },
    { lease, kind: 'retry', error: failure(), delayMs: 1_000 },
    { lease, kind: 'snooze', delayMs: 1_000 },
    { lease, kind: 'release' },
    { lease, kind: 'dead', error: failure() },
    { lease, kind: 'timed_out', error: failure() },
    { lease, kind: 'cancelled', reason: 'not needed' },
    { lease, kind: 'failed', error: failure() },
  ]
}
