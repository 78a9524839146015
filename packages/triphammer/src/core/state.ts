/**
 * The states a job can show.
 *
 * ```
 *            claim                 completed
 *  pending ────────► running ────► dead        its own last attempt failed, or its handler discarded it
 *     ▲                 │          timed_out   its last attempt timed out
 *     └─────────────────┘          failed      something decided about it: a batch, a flow, an operator
 *   retry, snooze, release         cancelled   someone cancelled it
 * ```
 *
 * A pending job may be due later, wait for a retry or for something else. Final states are left only by a person's retry.
 */
export const STATES = ['pending', 'running', 'completed', 'dead', 'timed_out', 'failed', 'cancelled'] as const

/**
 * A state of a job. It waits (`pending`), runs (`running`), or has ended: `completed`; `dead`, its own last attempt failed or its
 * handler discarded it; `timed_out`, its last attempt timed out; `failed`, something else decided about it; `cancelled`.
 *
 * @useDeclaredType
 */
export type JobState = (typeof STATES)[number]

/** A state that a job ends in. */
export type FinalState = Exclude<JobState, 'pending' | 'running'>

/** The states that count as unsuccessful, in every figure and every filter. A cancelled job is shown apart. */
export const UNSUCCESSFUL: readonly JobState[] = ['dead', 'timed_out', 'failed']

/** Whether a job in this state has ended. */
export function isFinal(state: JobState): state is FinalState {
  return state !== 'pending' && state !== 'running'
}
