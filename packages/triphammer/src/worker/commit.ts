import { type Clock, sleep } from '../core/clock.ts'
import { isTriphammerError, TriphammerError } from '../core/errors.ts'
import { NO_OPTIONS } from '../extend/build-job.ts'
import type { Enqueuer } from '../extend/enqueuer.ts'
import { encodeOutcome, type Settler } from '../extend/settle.ts'
import type { Store, StoreTx } from '../store/store.ts'
import type { Outcome, OutcomeKind, Run } from '../store/types.ts'
import type { CommitTx, HandlerContext } from './handler.ts'
import { isAway } from './outage.ts'

/** How a handler completes its job inside a transaction. */
export interface Commit {
  /** What a commit with a function has written; of a handler's own transaction only `confirmed` can tell. */
  readonly recorded: OutcomeKind | undefined
  /** While a commit with a function is being written: resolves when that has come to an end, well or not. */
  readonly landing: Promise<void> | undefined
  readonly commit: HandlerContext<unknown>['commit']
  /**
   * The outcome with which a commit has completed the job, if one has. Asked once the handler has ended.
   *
   * @throws TriphammerError `COMMIT_MISSING`: the completion was written in the handler's own transaction, which did not commit
   */
  confirmed(): Promise<OutcomeKind | undefined>
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
  let written: OutcomeKind | undefined
  let transaction: Promise<void> | undefined
  let isLanding = false

  const complete = async (result: unknown, tx: StoreTx): Promise<OutcomeKind> => {
    if (attempt.settled) throw lost()
    const kind = encodeOutcome(result === undefined ? { kind: 'completed' } : { kind: 'completed', result }, store.facets.results?.maxBytes)
    const outcome: Outcome = { lease: run.lease, ...attempt.times(), ...kind }
    const [answer] = await store.finish(await settler.withFollowUps([{ run, outcome }]), tx)
    if (answer!.state === 'stale') throw lost()
    if (answer!.state === 'cancel')
      throw new TriphammerError('CANCELLED', `job ${run.id} has been asked to be cancelled; nothing was committed`)
    return kind
  }
  const lost = (): TriphammerError =>
    new TriphammerError('LEASE_LOST', `the run of job ${run.id} is not this worker's any more; nothing was committed`)

  const transact = async <Result>(work: (tx: CommitTx) => Result | Promise<Result>): Promise<Result> => {
    let kind: OutcomeKind | undefined
    const value = await store.transaction(async (tx) => {
      const result = await work({
        db: tx.db,
        enqueue: async (task, ...[payload, options]) =>
          (await enqueuer.enqueue([{ task, payload, options: options ?? NO_OPTIONS }], tx))[0]!,
      })
      isLanding = true
      kind = await complete(result, tx)
      return result
    })
    state = 'own'
    written = kind
    return value
  }
  const inOwn = async <Result>(work: (tx: CommitTx) => Result | Promise<Result>): Promise<Result> => {
    const transacting = transact(work)
    transaction = transacting.then(
      () => {},
      () => {},
    )
    try {
      return await transacting
    } finally {
      isLanding = false
    }
  }
  const inForeign = async (tx: StoreTx, result: unknown): Promise<void> => {
    written = await complete(result, tx)
    state = 'foreign'
  }
  // The transactions of some libraries are functions too; unlike a function of the handler's they have members.
  const foreignTx = (work: object): StoreTx | undefined => {
    if (typeof work === 'function' && Object.keys(work).length === 0) return undefined
    try {
      return store.adopt(work)
    } catch (error) {
      if (typeof work === 'function' && isTriphammerError(error, 'TX_UNSUPPORTED')) return undefined
      throw error
    }
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
    get recorded() {
      return state === 'own' ? written : undefined
    },
    get landing() {
      return isLanding ? transaction : undefined
    },
    commit: (async (work: object | ((tx: CommitTx) => unknown), result?: unknown) => {
      if (state !== 'none') throw new TriphammerError('WORKER_STATE', `job ${run.id} has been committed already; commit once per run`)
      if (attempt.settled) throw lost()
      const tx = foreignTx(work)
      return tx ? inForeign(tx, result) : inOwn(work as (tx: CommitTx) => unknown)
    }) as Commit['commit'],
    async confirmed() {
      if (state !== 'foreign') return written
      // Completed, the run is nobody's any more. Still ours: the transaction was rolled back, or is open even now.
      if (await isGone()) return written
      state = 'none'
      written = undefined
      throw new TriphammerError(
        'COMMIT_MISSING',
        `the handler of job ${run.id} returned, but the transaction it completed the job in has not been committed`,
      )
    },
  }
}
