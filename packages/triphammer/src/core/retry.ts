import type { Duration } from './duration.ts'
import { parseDuration } from './duration.ts'
import { TriphammerError } from './errors.ts'
import { hearRejection } from './late.ts'
import { checkOptions } from './options.ts'
import { checkText, show } from './text.ts'

/**
 * A schedule of waits between attempts, as plain data that is stored with the job. `delay(n)` is the wait after the n-th
 * attempt failed; the first retry waits `base`.
 *
 * - `fixed`: base
 * - `linear`: base + increment · (n − 1)
 * - `exponential`: base · factor^(n − 1)
 * - `fibonacci`: base · fib(n), with fib = 1, 1, 2, 3, 5 …
 */
export interface Backoff {
  /** How the waits grow. */
  readonly kind: 'fixed' | 'linear' | 'exponential' | 'fibonacci'
  /** The first wait, in milliseconds. */
  readonly baseMs: number
  /** Of `exponential`: 1 or more. Default: 2. */
  readonly factor?: number
  /** Of `linear`, in milliseconds. */
  readonly incrementMs?: number
  /** The longest wait, in milliseconds. Default: 365 days, which no wait exceeds. */
  readonly maxMs?: number
  /** Spread: each wait is multiplied by a random number from 1 − jitter to 1 + jitter. */
  readonly jitter?: number
  /** Spread: a random time from 0 to this is added to each wait. */
  readonly jitterMs?: number
}

/** A {@link Backoff}, and what is different for some errors. Plain data, made by `fixed`, `linear`, `exponential` or `fibonacci`. */
export interface RetryPolicy extends Backoff {
  /** By the error's `code`, its `name` or the name of one of its classes, looked up in this order. `'dead'`: not again. */
  readonly errors?: Readonly<Record<string, Backoff | 'dead'>>
}

/**
 * A retry policy of the user's own: the wait before the next attempt, or `false` for no more attempts. A function cannot
 * be stored, so it is allowed on a task and on a worker, not on a single job.
 */
export type RetryFunction = (attempt: number, error: unknown) => Duration | false

/** Options of every kind of backoff. */
export interface BackoffOptions {
  /** The longest wait (default: none beyond the cap of 365 days that all waits share). */
  readonly max?: Duration
  /** Spread: a share from 0 to 1 (`0.2` is ±20 %), or a duration as text (`'5s'` adds 0 to 5 s). */
  readonly jitter?: number | string
  /** What is different for some errors, by `code`, `name` or class name: another backoff, or `'dead'`. */
  readonly errors?: Readonly<Record<string, RetryPolicy | 'dead'>>
}

/** No wait is longer than 365 days. */
export const MAX_RETRY_MS: number = 365 * 86_400_000

const BACKOFF_KEYS = ['max', 'jitter', 'errors'] as const

/**
 * The same wait before each attempt.
 *
 * @throws TriphammerError `INVALID_DURATION`, `INVALID_OPTION`, `UNKNOWN_OPTION`
 * @example fixed('30s', { jitter: '5s' })
 */
export function fixed(base: Duration, options: BackoffOptions = {}): RetryPolicy {
  checkOptions(options, BACKOFF_KEYS, 'fixed')
  return { kind: 'fixed', baseMs: parseDuration(base, 'fixed'), ...common(options) }
}

/**
 * A wait that grows by the same step: 10 s, 20 s, 30 s …
 *
 * @throws TriphammerError as {@link fixed}
 * @example linear({ base: '10s', increment: '10s' })
 */
export function linear(options: BackoffOptions & { readonly base: Duration; readonly increment: Duration }): RetryPolicy {
  checkOptions(options, ['base', 'increment', ...BACKOFF_KEYS], 'linear')
  return {
    kind: 'linear',
    baseMs: parseDuration(options.base, 'linear.base'),
    incrementMs: parseDuration(options.increment, 'linear.increment'),
    ...common(options),
  }
}

/**
 * A wait that is multiplied each time, by 2 unless `factor` says otherwise: 2 s, 4 s, 8 s …
 *
 * @throws TriphammerError as {@link fixed}
 * @example exponential({ base: '2s', max: '6h', jitter: 0.2, errors: { RateLimited: fixed('1m'), ENOTFOUND: 'dead' } })
 */
export function exponential(options: BackoffOptions & { readonly base: Duration; readonly factor?: number }): RetryPolicy {
  checkOptions(options, ['base', 'factor', ...BACKOFF_KEYS], 'exponential')
  const factor = options.factor ?? 2
  if (!Number.isFinite(factor) || factor < 1) {
    throw new TriphammerError('INVALID_OPTION', `exponential.factor: ${show(factor)} is not a number of 1 or more`)
  }
  return { kind: 'exponential', baseMs: parseDuration(options.base, 'exponential.base'), factor, ...common(options) }
}

/**
 * A wait that grows as the Fibonacci numbers: 1 s, 1 s, 2 s, 3 s, 5 s …
 *
 * @throws TriphammerError as {@link fixed}
 * @example fibonacci({ base: '1s', max: '1h' })
 */
export function fibonacci(options: BackoffOptions & { readonly base: Duration }): RetryPolicy {
  checkOptions(options, ['base', ...BACKOFF_KEYS], 'fibonacci')
  return { kind: 'fibonacci', baseMs: parseDuration(options.base, 'fibonacci.base'), ...common(options) }
}

/** The policy of a job for which nothing else was said: 2 s, doubled each time up to 6 h, ±20 %. */
export const DEFAULT_RETRY: RetryPolicy = exponential({ base: '2s', factor: 2, max: '6h', jitter: 0.2 })

/**
 * The wait before the next attempt, in milliseconds, or `undefined` when this error is not to be tried again.
 *
 * @param attempt the number of the attempt that failed, from 1
 * @param random a number from 0 up to but not including 1
 */
export function retryDelay(policy: RetryPolicy | RetryFunction, attempt: number, error: unknown, random: number): number | undefined {
  if (typeof policy === 'function') {
    const wait = policy(attempt, error)
    hearRejection(wait, () => {}) // a promise is no duration, and is refused as none
    return wait === false ? undefined : Math.min(parseDuration(wait, 'the wait returned by the retry function'), MAX_RETRY_MS)
  }
  const special = policy.errors && errorNames(error).find((name) => Object.hasOwn(policy.errors!, name))
  const backoff = special === undefined ? policy : policy.errors![special]!
  return backoff === 'dead' ? undefined : delayOf(backoff, attempt, random)
}

function delayOf(backoff: Backoff, attempt: number, random: number): number {
  const max = Math.min(backoff.maxMs ?? MAX_RETRY_MS, MAX_RETRY_MS)
  const plain = Math.min(growth(backoff, attempt), max)
  const spread = plain * (1 + (backoff.jitter ?? 0) * (2 * random - 1)) + (backoff.jitterMs ?? 0) * random
  return Math.round(Math.min(spread, max))
}

function growth(backoff: Backoff, attempt: number): number {
  switch (backoff.kind) {
    case 'fixed':
      return backoff.baseMs
    case 'linear':
      return backoff.baseMs + (backoff.incrementMs ?? 0) * (attempt - 1)
    case 'exponential':
      // Zero stays zero, also where the power is too large to be a number.
      return backoff.baseMs === 0 ? 0 : backoff.baseMs * (backoff.factor ?? 2) ** (attempt - 1)
    case 'fibonacci':
      return backoff.baseMs * fib(attempt)
  }
}

// fib(80) times a millisecond is beyond every cap: no need to count further.
function fib(n: number): number {
  let [a, b] = [1, 1]
  for (let i = 2; i < Math.min(n, 80); i++) [a, b] = [b, a + b]
  return n < 2 ? 1 : b
}

function common(options: BackoffOptions): Partial<RetryPolicy> {
  return {
    ...(options.max === undefined ? {} : { maxMs: parseDuration(options.max, 'max') }),
    ...jitterOf(options.jitter),
    ...(options.errors === undefined ? {} : { errors: errorsOf(options.errors) }),
  }
}

function jitterOf(jitter: number | string | undefined): Partial<Backoff> {
  if (jitter === undefined) return {}
  if (typeof jitter === 'string') return { jitterMs: parseDuration(jitter, 'jitter') }
  if (typeof jitter === 'number' && jitter >= 0 && jitter <= 1) return { jitter }
  throw new TriphammerError('INVALID_OPTION', `jitter: ${show(jitter)} is not a share from 0 to 1; for a time write text such as '5s'`)
}

function errorsOf(errors: Readonly<Record<string, RetryPolicy | 'dead'>>): Readonly<Record<string, Backoff | 'dead'>> {
  if (typeof errors !== 'object' || errors === null || Array.isArray(errors)) {
    throw new TriphammerError(
      'INVALID_OPTION',
      `errors: ${show(errors)} is not an object such as { ECONNRESET: fixed('1s'), CardError: 'dead' }`,
    )
  }
  for (const [name, policy] of Object.entries(errors)) {
    checkText(name, `errors: the name ${show(name)}`)
    if (policy === 'dead') continue
    if (typeof policy !== 'object' || policy === null || policy.errors) {
      throw new TriphammerError(
        'INVALID_OPTION',
        `errors.${name}: give 'dead' or a backoff such as fixed('1m') that has no errors of its own`,
      )
    }
  }
  return { ...errors }
}

const KINDS: readonly unknown[] = ['fixed', 'linear', 'exponential', 'fibonacci'] satisfies Backoff['kind'][]
const LEAST = { baseMs: 0, factor: 1, incrementMs: 0, maxMs: 0, jitter: 0, jitterMs: 0 } as const

/**
 * Checks a policy however it was made: it is stored with the job, and a number that is none would show only at its first
 * failure.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`, `TEXT_INVALID`
 */
export function checkRetryPolicy(policy: RetryPolicy, what: string): RetryPolicy {
  if (typeof policy !== 'object' || policy === null || !KINDS.includes(policy.kind) || policy.baseMs === undefined) {
    throw new TriphammerError(
      'INVALID_OPTION',
      `${what} must be made by fixed(), linear(), exponential() or fibonacci(); on a task or a worker it may be a function`,
    )
  }
  checkOptions(policy, ['kind', 'errors', ...Object.keys(LEAST)], what)
  for (const [key, least] of Object.entries(LEAST)) {
    const value: unknown = policy[key as keyof typeof LEAST]
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= least)) continue
    throw new TriphammerError('INVALID_OPTION', `${what}: ${key}: ${show(value)} is not a number of ${least} or more`)
  }
  if (policy.errors === undefined) return policy
  for (const [name, backoff] of Object.entries(errorsOf(policy.errors))) {
    if (backoff !== 'dead') checkRetryPolicy(backoff, `${what}: errors.${name}`)
  }
  return policy
}

// An error that cannot be looked at has no name, and the policy holds for it as for any other.
function errorNames(error: unknown): string[] {
  try {
    return readNames(error)
  } catch {
    return []
  }
}

function readNames(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return []
  const { code, name } = error as { code?: unknown; name?: unknown }
  const names = [code, name].filter((value) => typeof value === 'string')
  for (let proto = Object.getPrototypeOf(error); proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    names.push(String(proto.constructor?.name))
  }
  return names
}
