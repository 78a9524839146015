import { type Duration, parseDuration } from './duration.ts'
import { TriphammerError } from './errors.ts'
import { type Instant, parseInstant } from './instant.ts'
import { checkOptions } from './options.ts'

/**
 * What became of a run, as people write it: what `jobs.finish` takes and what a handler may throw. The worker and the
 * client turn it into the store's form.
 */
export type JobOutcome =
  | { readonly kind: 'completed'; readonly result?: unknown }
  | { readonly kind: 'retry'; readonly error?: unknown; readonly delayMs?: number; readonly at?: number }
  | { readonly kind: 'snooze'; readonly delayMs: number }
  | { readonly kind: 'dead'; readonly error?: unknown }
  | { readonly kind: 'timed_out'; readonly error?: unknown }
  | { readonly kind: 'cancelled'; readonly reason?: string }

/**
 * The run succeeded; `result`, any JSON value up to 1 MiB, is kept with the job.
 *
 * @example await jobs.finish(run, completed({ rows: 3 }))
 */
export function completed(result?: unknown): JobOutcome {
  return result === undefined ? { kind: 'completed' } : { kind: 'completed', result }
}

/**
 * The attempt failed and there shall be another, after `delay` or at `at` (default: now), however many there were.
 * `jobs.fail(run, error)` is what most people want: it decides by the job's own policy.
 *
 * @example await jobs.finish(run, retry(error, { delay: '5m' }))
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_DURATION`, `INVALID_OPTION`
 */
export function retry(error?: unknown, options: { readonly delay?: Duration; readonly at?: Instant } = {}): JobOutcome {
  checkOptions(options, ['delay', 'at'], 'retry')
  const { delay, at } = options
  if (delay !== undefined && at !== undefined) throw new TriphammerError('INVALID_OPTION', 'retry: give delay or at, not both')
  if (at !== undefined) return { kind: 'retry', error, at: parseInstant(at, 'retry: at') }
  return { kind: 'retry', error, delayMs: delay === undefined ? 0 : parseDuration(delay, 'retry: delay') }
}

/** The job failed for good, however many attempts it has left; `error` is kept with it. */
export function dead(error?: unknown): JobOutcome {
  return { kind: 'dead', error }
}

/** The job ends as timed out, however many attempts it has left; `error` is kept with it. */
export function timedOut(error?: unknown): JobOutcome {
  return { kind: 'timed_out', error }
}

/** The job is cancelled; `reason` is kept as its error. */
export function cancelled(reason?: string): JobOutcome {
  return reason === undefined ? { kind: 'cancelled' } : { kind: 'cancelled', reason }
}

const SIGNAL = Symbol.for('triphammer.signal')

/** An outcome that a handler throws. It is an `Error`, so that linters, loggers and `catch` blocks treat it as one. */
export class OutcomeSignal extends Error {
  constructor(outcome: JobOutcome, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OutcomeSignal'
    Object.defineProperty(this, SIGNAL, { value: outcome })
  }
}

/**
 * Again after `delay`; this attempt does not count.
 *
 * @example if (!(await api.ready())) throw snooze('5m')
 * @throws TriphammerError `INVALID_DURATION`
 */
export function snooze(delay: Duration): OutcomeSignal {
  return new OutcomeSignal({ kind: 'snooze', delayMs: parseDuration(delay, 'snooze') }, 'the handler snoozed the job')
}

/**
 * Not again: the job is dead now, however many attempts it has left. `reason` is text or an error, and is kept with the job.
 *
 * @example if (response.status === 410) throw discard('the feed is gone')
 */
export function discard(reason: unknown): OutcomeSignal {
  return new OutcomeSignal({ kind: 'dead', error: reason }, 'the handler discarded the job', reason)
}

/**
 * The attempt failed; if the job has attempts left, the next comes after `delay`, whatever its policy says.
 *
 * @example if (response.status === 429) throw retryAfter('30s', new Error('too many requests'))
 * @throws TriphammerError `INVALID_DURATION`
 */
export function retryAfter(delay: Duration, error?: unknown): OutcomeSignal {
  const delayMs = parseDuration(delay, 'retryAfter')
  return new OutcomeSignal(
    { kind: 'retry', error: error ?? 'the handler asked for another attempt', delayMs },
    'the handler asked for another attempt',
    error,
  )
}

/**
 * The outcome inside something thrown or returned by {@link snooze}, {@link discard} or {@link retryAfter}. It never throws,
 * whatever it is asked about: a run must be able to end.
 */
export function signalledOutcome(value: unknown): JobOutcome | undefined {
  try {
    if (typeof value !== 'object' || value === null || !(SIGNAL in value)) return undefined
    return value[SIGNAL] as JobOutcome
  } catch {
    return undefined // a Proxy that does not want to be looked at
  }
}
