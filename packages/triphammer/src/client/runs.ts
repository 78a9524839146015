import { DEFAULTS } from '../core/defaults.ts'
import { type Duration, parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import { checkInteger, checkOptions } from '../core/options.ts'
import type { JobOutcome, OutcomeSignal } from '../core/outcome.ts'
import { signalledOutcome } from '../core/outcome.ts'
import { parseWeights, type WeightsInput } from '../core/priority.ts'
import { DEFAULT_RETRY } from '../core/retry.ts'
import type { AnyTask } from '../core/task.ts'
import { checkName, show } from '../core/text.ts'
import { judge } from '../core/verdict.ts'
import { encodeOutcome, expiredOutcome, type SettledRun, type Settler } from '../extend/settle.ts'
import type { Store, StoreTx } from '../store/store.ts'
import type { LeaseRef, SessionId } from '../store/types.ts'
import { taskName } from './filter.ts'
import { type ClaimedRun, payloadText, toClaimedRun } from './job.ts'

/** Options of a claim by hand. */
export interface ClaimOptions {
  /** At most this many runs (default 1, at most 1,000). */
  readonly max?: number
  /** How long they are yours unless you extend them (default 60 s). */
  readonly lease?: Duration
  /** How the levels of priority take turns. Default: strictly by priority. */
  readonly weights?: WeightsInput
  /** Only these tasks (default: all). */
  readonly tasks?: readonly (string | AnyTask)[]
}

/** What became of expired runs. */
export interface Reclaimed {
  /** The ids of jobs that run again. */
  readonly requeued: readonly string[]
  /** The ids of jobs whose attempts were used up. */
  readonly dead: readonly string[]
  /** The ids of jobs that had been asked to be cancelled. */
  readonly cancelled: readonly string[]
}

/** Taking jobs by hand: for serverless functions, other runtimes, tests. */
export interface Runs {
  /**
   * Takes runnable jobs of a queue, `[]` when there are none. Their leases are not extended by themselves.
   *
   * @throws TriphammerError `INVALID_NAME`, `INVALID_OPTION`, `INVALID_DURATION`, `UNKNOWN_OPTION`
   * @example for (const run of await jobs.claim('mail', { max: 10, lease: '60s' })) await jobs.finish(run, await work(run))
   */
  claim(queue: string, options?: ClaimOptions): Promise<ClaimedRun[]>
  /** Extends a lease, from now. `false`: the run is not yours any more. */
  extend(run: ClaimedRun, lease: Duration): Promise<boolean>
  /**
   * Ends a run. `'stale'`: it is not yours any more, and nothing was written. If someone has asked that the job be cancelled,
   * it becomes cancelled whatever the outcome, and that is `'applied'` too.
   */
  finish(run: ClaimedRun, outcome: JobOutcome | OutcomeSignal): Promise<'applied' | 'stale'>
  /** The attempt failed: another one or the end, by the job's own policy. `'stale'`: the run is not yours any more. */
  fail(run: ClaimedRun, error: unknown): Promise<'applied' | 'stale'>
  /** Gives a run back as if it had not been claimed: attempt refunded, place kept. `false`: it is not yours any more. */
  release(run: ClaimedRun): Promise<boolean>
  /**
   * Ends runs whose leases have expired, by policy. Workers do this by themselves. After the store could not be written for a
   * while, expired leases are left alone for a bounded time, so that live workers may extend theirs.
   */
  reclaim(): Promise<Reclaimed>
}

/** What {@link createRuns} works with. */
export interface RunsOptions {
  readonly store: Store
  readonly settler: Settler
  readonly ids: Ids
  readonly session: SessionId
}

const CLAIM_MAX = 1_000
const RECLAIM_SLICE = 500

/** Makes {@link Runs}. */
export function createRuns({ store, settler, ids, session }: RunsOptions): Runs {
  const end = (run: ClaimedRun, outcome: JobOutcome): Promise<'applied' | 'stale'> => endRun({ store, settler }, run, outcome)

  return {
    async claim(queue, options = {}) {
      checkName(queue, 'the name of the queue')
      checkOptions(options, ['max', 'lease', 'weights', 'tasks'], 'claim')
      const { max = 1, lease = DEFAULTS.leaseMs, weights, tasks } = options
      const { runs } = await store.claim({
        session,
        queue,
        limit: checkInteger(max, 'claim: max', 0, CLAIM_MAX),
        leaseMs: parseDuration(lease, 'claim: lease', 1),
        ...(weights === undefined ? {} : { weights: parseWeights(weights) }),
        ...(tasks === undefined ? {} : { tasks: taskNames(tasks) }),
      })
      return runs.map(toClaimedRun)
    },
    async extend(run, lease) {
      const [state] = await store.extend([leaseOf(run)], { leaseMs: parseDuration(lease, 'extend: lease', 1) })
      return state!.state !== 'lost'
    },
    finish: async (run, outcome) => end(run, signalledOutcome(outcome) ?? (outcome as JobOutcome)),
    async fail(run, error) {
      leaseOf(run)
      const { outcome } = judge({
        attempt: run.attempt,
        maxAttempts: run.maxAttempts,
        policy: run.retry ?? DEFAULT_RETRY,
        error,
        timedOut: false,
        random: ids.random(),
      })
      return end(run, outcome)
    },
    async release(run) {
      const [result] = await settler.finish([{ run: settledRun(run), outcome: { lease: leaseOf(run), kind: 'release' } }])
      return result!.state === 'applied'
    },
    async reclaim() {
      const requeued: string[] = []
      const dead: string[] = []
      const cancelled: string[] = []
      for (;;) {
        const runs = await store.reclaim({ session, limit: RECLAIM_SLICE, leaseMs: DEFAULTS.leaseMs })
        const endings = runs.map((run) => ({ run, outcome: expiredOutcome(run, run.maxAttempts) }))
        const results = await settler.finish(endings)
        results.forEach(({ state }, i) => {
          if (state !== 'applied') return
          const { run, outcome } = endings[i]!
          const list = outcome.kind === 'retry' ? requeued : outcome.kind === 'dead' ? dead : cancelled
          list.push(run.id)
        })
        if (runs.length < RECLAIM_SLICE) return { requeued, dead, cancelled }
      }
    },
  }
}

/** Ends a run that was claimed by hand, within a transaction if one is given. */
export async function endRun(
  { store, settler }: { readonly store: Store; readonly settler: Settler },
  run: ClaimedRun,
  outcome: JobOutcome,
  tx?: StoreTx,
): Promise<'applied' | 'stale'> {
  const lease = leaseOf(run)
  const kind = encodeOutcome(outcome, store.facets.results?.maxBytes)
  const [result] = await settler.finish([{ run: settledRun(run), outcome: { lease, ...kind } }], tx)
  return result!.state === 'applied' ? 'applied' : 'stale'
}

function settledRun(run: ClaimedRun): SettledRun {
  const lease = leaseOf(run)
  const { id, task, queue, attempt } = run
  return { lease, id, task, queue, attempt, payload: payloadText(run) }
}

// The run of a caller may have travelled, or be something else altogether.
function leaseOf(run: ClaimedRun | undefined): LeaseRef {
  const lease: Partial<LeaseRef> | undefined = run?.lease
  if (typeof lease?.id === 'string' && typeof lease.token === 'string') return lease as LeaseRef
  throw new TriphammerError('INVALID_OPTION', `${show(run)} is not a run; give what claim() returned`)
}

function taskNames(tasks: readonly (string | AnyTask)[]): readonly string[] {
  if (!Array.isArray(tasks)) throw new TriphammerError('INVALID_OPTION', `claim: tasks: ${show(tasks)} is not a list of tasks`)
  return tasks.map((task: string | AnyTask) => taskName(task, 'claim: tasks'))
}
