import { type JobOutcome, signalledOutcome } from './outcome.ts'
import { DEFAULT_RETRY, type RetryFunction, type RetryPolicy, retryDelay } from './retry.ts'

/** An attempt that failed, and what decides over the next. */
export interface FailedAttempt {
  readonly attempt: number
  readonly maxAttempts: number
  readonly policy: RetryPolicy | RetryFunction
  /** What was thrown. */
  readonly error: unknown
  /** The attempt ran out of its time. */
  readonly timedOut: boolean
  /** A number from 0 up to but not including 1, for the jitter. */
  readonly random: number
}

/** What a failed attempt comes to. */
export interface Verdict {
  readonly outcome: JobOutcome
  /** What the user's retry function threw; the default policy decided in its place. */
  readonly policyError?: unknown
}

/**
 * Decides what a failed attempt comes to. What the handler signalled goes first: a snooze or a discard stands, a retry of
 * its own stands while there are attempts left. Otherwise the policy decides; when it wants no more or the attempts are used
 * up, the job is dead, or timed out if that is how its last attempt ended.
 */
export function judge(failed: FailedAttempt): Verdict {
  const signalled = signalledOutcome(failed.error)
  const exhausted = failed.attempt >= failed.maxAttempts
  if (signalled?.kind === 'retry') {
    return { outcome: exhausted ? { kind: 'dead', error: signalled.error } : signalled }
  }
  if (signalled) return { outcome: signalled }

  const last: JobOutcome = { kind: failed.timedOut ? 'timed_out' : 'dead', error: failed.error }
  if (exhausted) return { outcome: last }
  const { delayMs, policyError } = nextDelay(failed)
  const outcome: JobOutcome = delayMs === undefined ? last : { kind: 'retry', error: failed.error, delayMs }
  return policyError === undefined ? { outcome } : { outcome, policyError }
}

function nextDelay({ policy, attempt, error, random }: FailedAttempt): { delayMs: number | undefined; policyError?: unknown } {
  try {
    const delayMs = retryDelay(policy, attempt, error, random)
    // A stored policy that was changed from outside may come to no number.
    if (Number.isNaN(delayMs)) throw new TypeError('the retry policy is none')
    return { delayMs }
  } catch (policyError) {
    return { delayMs: retryDelay(DEFAULT_RETRY, attempt, error, random), policyError }
  }
}
