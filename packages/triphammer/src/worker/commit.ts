import { type Clock, sleep } from '../core/clock.ts'
import { TriphammerError } from '../core/errors.ts'
import { NO_OPTIONS } from '../extend/build-job.ts'
import type { Enqueuer } from '../extend/enqueuer.ts'
import { encodeOutcome, type Settler } from '../extend/settle.ts'
import type { Store, StoreTx } from '../store/store.ts'
import type { Outcome, Run } from '../store/types.ts'
import type { CommitTx, HandlerContext } from './handler.ts'
import { isAway } from './outage.ts'

/** How a handler completes its job inside a transaction. */
export interface Commit {
  readonly commit: HandlerContext<unknown>['commit']
  /**
   * Whether a commit has completed the job. Asked once the handler has ended.
   *
   * @throws TriphammerError `COMMIT_MISSING`: the completion was written in the handler's own transaction, which did not commit
   */
  confirmed(): Promise<boolean>
}

/** What {@link createCommit} works with. */
export interface CommitOptions {
  readonly store: Store
  readonly settler: Settler
  readonly enqueuer: Enqueuer
  readonly clock: Clock
  /** The run, and whether it has come to another end meanwhile. */
  readonly attempt: {
    readonly run: Run
    readonly settled: boolean
    times(): { readonly startedMs: number; readonly endedMs: number }
  }
}

const AWAY_WAIT_MS = 500

/** Makes the {@link Commit} of a run. */
export function createCommit({ store, settler, enqueuer, clock, attempt }: CommitOptions): Commit {
  const { run } = attempt
  let state: 'none' | 'own' | 'foreign' = 'none'

  const complete = async (result: unknown, tx: StoreTx): Promise<void> => {
    if (attempt.settled) throw lost()
    const kind = encodeOutcome(result === undefined ? { kind: 'completed' } : { kind: 'completed', result }, store.facets.results?.maxBytes)
    const outcome: Outcome = { lease: run.lease, ...attempt.times(), ...kind }
    const [answer] = await store.finish([await settler.withFollowUps({ run, outcome })], tx)
    if (answer!.state === 'stale') throw lost()
    if (answer!.state === 'cancel')
      throw new TriphammerError('CANCELLED', `job ${run.id} has been asked to be cancelled; nothing was committed`)
  }
  const lost = (): TriphammerError =>
    new TriphammerError('LEASE_LOST', `the run of job ${run.id} is not this worker's any more; nothing was committed`)

  const inOwn = async <Result>(work: (tx: CommitTx) => Result | Promise<Result>): Promise<Result> => {
    const value = await store.transaction(async (tx) => {
      const result = await work({
        db: tx.db,
        enqueue: async (task, ...[payload, options]) =>
          (await enqueuer.enqueue([{ task, payload, options: options ?? NO_OPTIONS }], tx))[0]!,
      })
      await complete(result, tx)
      return result
    })
    state = 'own'
    return value
  }
  const inForeign = async (transaction: object, result: unknown): Promise<void> => {
    await complete(result, store.adopt(transaction))
    state = 'foreign'
  }

  const isGone = async (): Promise<boolean> => {
    while (true) {
      try {
        const [lease] = await store.extend([run.lease], {})
        return lease!.state === 'lost'
      } catch (error) {
        if (!isAway(error) || attempt.settled) throw error
        await sleep(clock, AWAY_WAIT_MS)
      }
    }
  }

  return {
    commit: (async (work: object | ((tx: CommitTx) => unknown), result?: unknown) => {
      if (state !== 'none') throw new TriphammerError('WORKER_STATE', `job ${run.id} has been committed already; commit once per run`)
      return typeof work === 'function' ? inOwn(work as (tx: CommitTx) => unknown) : inForeign(work, result)
    }) as Commit['commit'],
    async confirmed() {
      if (state !== 'foreign') return state === 'own'
      // Completed, the run is nobody's any more. Still ours: the transaction was rolled back, or is open even now.
      if (await isGone()) return true
      state = 'none'
      throw new TriphammerError(
        'COMMIT_MISSING',
        `the handler of job ${run.id} returned, but the transaction it completed the job in has not been committed`,
      )
    },
  }
}
