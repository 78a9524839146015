import { isTriphammerError, TriphammerError } from '../core/errors.ts'
import { toFailure } from '../core/failure.ts'
import { type JobOutcome, signalledOutcome } from '../core/outcome.ts'
import { DEFAULT_RETRY } from '../core/retry.ts'
import type { AnyTask } from '../core/task.ts'
import { judge } from '../core/verdict.ts'
import { issuesOf, refuseIssues } from '../extend/build-job.ts'
import type { Enqueuer } from '../extend/enqueuer.ts'
import { compose, type RunCall } from '../extend/middleware.ts'
import type { Hooks } from '../extend/plugin.ts'
import { encodeOutcome, type Settler } from '../extend/settle.ts'
import type { Outcome, OutcomeKind, Run } from '../store/types.ts'
import { Attempt } from './attempt.ts'
import type { ActiveRun, Claim } from './claim.ts'
import { createCommit } from './commit.ts'
import { createContext } from './context.ts'
import type { Handler } from './handler.ts'
import type { WorkerConfig } from './options.ts'

/** Runs handlers and turns what they do into outcomes. */
export interface Executor {
  /**
   * Starts the handler of a claim. `ended` is called once, after `start` has returned: with the outcome, and whether
   * `ctx.commit` has written it already.
   */
  start(claim: Claim, ended: (outcome: Outcome, recorded: boolean) => void): ActiveRun
}

/** What an {@link Executor} works with. */
export interface ExecutorOptions {
  readonly config: WorkerConfig
  readonly hooks: Hooks
  readonly enqueuer: Enqueuer
  readonly settler: Settler
}

type Confirmed = NonNullable<ReturnType<Attempt['committed']>>
type HandlerEnd = { readonly value: unknown } | { readonly error: unknown }

/** Makes an {@link Executor}. */
export function createExecutor({ config, hooks, enqueuer, settler }: ExecutorOptions): Executor {
  const { clock, ids, log, store, policy } = config
  const maxBytes = store.facets.results?.maxBytes
  const makeCommit = (attempt: Attempt) => createCommit({ store, settler, enqueuer, clock, attempt })

  const perform = async (run: Run, handler: Handler, attempt: Attempt): Promise<unknown> => {
    const { task } = handler
    const parsed = parsePayload(run)
    const payload = task.input ? await validPayload(task, task.input, parsed) : parsed
    return handler.run(createContext({ config, enqueuer, attempt, payload }) as never)
  }
  // Asynchronous, so that middleware which throws before it returns a promise fails the attempt and nothing else.
  const performWithin = async (handler: Handler, attempt: Attempt): Promise<unknown> => {
    const { run, signal, log: ownLog } = attempt
    return compose(hooks.run, (call: RunCall) => perform(call.run, handler, attempt))({ run, signal, log: ownLog })
  }

  const conclude = (attempt: Attempt, handler: Handler, end: HandlerEnd): void => {
    const committed = attempt.committed()
    if (committed) void concludeCommitted(attempt, handler, end, committed)
    else settle(attempt, verdictOn(attempt, handler, end))
  }
  const concludeCommitted = async (attempt: Attempt, handler: Handler, end: HandlerEnd, confirmed: Confirmed): Promise<void> => {
    let really = end
    try {
      const committed = await confirmed
      if (committed) {
        if ('error' in end) attempt.log.warn({ error: end.error }, 'the handler threw after it had committed; the job is completed')
        return attempt.settle({ outcome: committed, recorded: true })
      }
    } catch (error) {
      // What the handler threw itself says more than the commit that is missing because of it.
      if (!('error' in end)) really = { error }
    }
    settle(attempt, verdictOn(attempt, handler, really))
  }

  const verdictOn = (attempt: Attempt, handler: Handler, end: HandlerEnd): JobOutcome | 'release' => {
    if (attempt.cancelRequested) return { kind: 'cancelled' }
    const decided = signalledOutcome('value' in end ? end.value : end.error) !== undefined
    if ('value' in end && !decided) return { kind: 'completed', result: end.value }
    // What fails because of the shutdown goes back; what the handler itself decided stands.
    if (attempt.reason?.code === 'SHUTDOWN' && !decided) return 'release'
    return judgeFailure(attempt, handler, 'error' in end ? end.error : end.value, false)
  }

  const judgeFailure = (attempt: Attempt, handler: Handler, error: unknown, timedOut: boolean): JobOutcome => {
    const { run } = attempt
    // No attempt can mend what is not JSON.
    if (isTriphammerError(error, 'PAYLOAD_UNREADABLE')) return { kind: 'dead', error }
    const verdict = judge({
      attempt: run.attempt,
      maxAttempts: Math.min(run.maxAttempts, policy.maxAttempts ?? run.maxAttempts),
      policy: run.retry ?? handler.task.policy.retry ?? policy.retry ?? DEFAULT_RETRY,
      error,
      timedOut,
      random: ids.random(),
    })
    if (verdict.policyError !== undefined) {
      attempt.log.error({ error: verdict.policyError }, 'the retry function threw; the default policy decided')
    }
    return verdict.outcome
  }

  const settle = (attempt: Attempt, outcome: JobOutcome | 'release'): void => {
    if (attempt.settled) return
    attempt.settle({ outcome: outcome === 'release' ? { kind: 'release' } : encode(attempt, outcome), recorded: false })
  }
  const encode = (attempt: Attempt, outcome: JobOutcome): OutcomeKind => {
    try {
      return encodeOutcome(outcome, maxBytes)
    } catch (cause) {
      if (outcome.kind !== 'completed') {
        attempt.log.error({ error: cause }, 'what the handler threw is no outcome that can be written; the job is dead')
        return { kind: 'dead', error: toFailure(cause) }
      }
      // The work is done: failing the run would do it again.
      const error = new TriphammerError('RESULT_INVALID', `job ${attempt.run.id} completed, but its result cannot be kept`, { cause })
      attempt.log.error({ error }, error.message)
      return { kind: 'completed' }
    }
  }

  return {
    start(claim, ended) {
      const { run } = claim
      const handler = config.handlers.get(run.task)!
      const attempt = new Attempt({
        claim,
        clock,
        log,
        makeCommit,
        ended: (self, { outcome, recorded }) => ended({ ...outcome, lease: run.lease, ...self.times() }, recorded),
      })
      attempt.limit(run.timeoutMs ?? handler.task.policy.timeoutMs ?? policy.timeoutMs, (error) => {
        settle(attempt, attempt.cancelRequested ? { kind: 'cancelled' } : judgeFailure(attempt, handler, error, true))
      })
      const performing = hooks.run.length === 0 ? perform(run, handler, attempt) : performWithin(handler, attempt)
      void performing.then(
        (value) => conclude(attempt, handler, { value }),
        (error: unknown) => conclude(attempt, handler, { error }),
      )
      return attempt
    },
  }
}

async function validPayload(task: AnyTask, input: NonNullable<AnyTask['input']>, payload: unknown): Promise<unknown> {
  const result = await input['~standard'].validate(payload)
  refuseIssues(task, issuesOf(task, result))
  return 'value' in result ? result.value : payload
}

function parsePayload(run: Run): unknown {
  try {
    return JSON.parse(run.payload)
  } catch (cause) {
    throw new TriphammerError('PAYLOAD_UNREADABLE', `the payload of job ${run.id} is not JSON; it was changed from outside`, { cause })
  }
}
