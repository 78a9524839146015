import { type Clock, systemClock } from '../../core/clock.ts'
import { DEFAULTS } from '../../core/defaults.ts'
import { TriphammerError } from '../../core/errors.ts'
import { createIds, type Ids } from '../../core/ids.ts'
import { checkOptions } from '../../core/options.ts'
import type { JobFilter, JobRecord } from '../../store/admin.ts'
import type { Schema, Store } from '../../store/store.ts'
import type { NewJob, Run, SessionId } from '../../store/types.ts'
import { createAdmin } from './admin.ts'
import { claimJobs, leaseRow } from './claim.ts'
import { enqueueJobs } from './enqueue.ts'
import { extendLeases } from './extend.ts'
import { finishRuns } from './finish.ts'
import { removeExpired } from './maintain.ts'
import { createQueues } from './queues.ts'
import { reclaimRuns } from './reclaim.ts'
import { newRow } from './row.ts'
import { createRows } from './rows.ts'
import { matching } from './select.ts'
import { createSessions } from './sessions.ts'
import { createTransactions } from './transaction.ts'
import { createWakeups } from './wakeups.ts'

/** Options of {@link memory}. */
export interface MemoryOptions {
  /** The store's clock, which all delays and leases go by. Default: the machine's. */
  readonly clock?: Clock
  /** Ids for tests. Default: random, by the store's clock. */
  readonly ids?: Ids
}

/** The memory store, with what only a store can do whose jobs are in this very process: for tests and test kits. */
export interface MemoryStore extends Store {
  /**
   * The jobs that are committed now, in the order in which they came, and at once: nothing can come between the question and
   * the answer.
   */
  snapshot(filter?: JobFilter): readonly StoredJob[]
  /**
   * Enqueues a job and claims it in one step: nobody else can claim it, no other job is claimed in its place, and whether its
   * queue is paused does not matter. The job must be new, and its id unknown.
   */
  enqueueClaimed(job: NewJob, claim: EnqueueClaimed): Run
}

/** What a {@link MemoryStore.snapshot} says of a job. */
export type StoredJob = Pick<
  JobRecord,
  'id' | 'task' | 'queue' | 'state' | 'payload' | 'priority' | 'attempt' | 'maxAttempts' | 'createdAt' | 'runAt'
>

/** How {@link MemoryStore.enqueueClaimed} claims. */
export interface EnqueueClaimed {
  /** Who claims. */
  readonly session: SessionId
  /** How long the run is the claimer's, from now. */
  readonly leaseMs: number
  /** The number of the attempt that begins, from 1. */
  readonly attempt: number
}

/**
 * A store that keeps everything in this process and loses it with the process: for tests, and the executable model of what
 * every store does. Each verb runs in one go, so all of them are atomic; a transaction is optimistic, and what breaks it
 * shows at its commit as `TX_CONFLICT`.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`
 *
 * @example
 * const clock = manualClock()
 * const store = memory({ clock })
 */
export function memory(options: MemoryOptions = {}): MemoryStore {
  checkOptions(options, ['clock', 'ids'], 'memory')
  const { clock = systemClock } = options
  const ids = options.ids ?? createIds(clock)
  let closed = false

  const wakeups = createWakeups()
  const sessions = createSessions()
  const queues = createQueues()
  const rows = createRows({
    // A job that is new concerns even those who have nothing to claim yet: they learn when it falls due.
    pending: (row, before) => (before === undefined || row.runAt <= clock.now()) && wakeups.notify(row.queue),
    disturbed: (session) => sessions.disturb(session, clock.now()),
  })
  const transactions = createTransactions(rows)

  const now = (): number => {
    if (closed) throw new TriphammerError('STORE_CLOSED', 'the memory store has been closed')
    return clock.now()
  }

  return {
    info: { name: 'memory', clock: options.clock ? 'injected' : 'database', connections: 1 },
    facets: {
      wakeups: {
        subscribe(names, wake) {
          now()
          return wakeups.subscribe(names, wake)
        },
      },
      sync: { enqueue: (jobs, tx) => transactions.write(tx, enqueueJobs(jobs, now())) },
      results: { maxBytes: DEFAULTS.resultBytes },
    },
    schema: noSchema(now),
    admin: createAdmin({ rows, transactions, queues, sessions, now, resumed: wakeups.notify }),

    adopt(foreign) {
      now()
      return transactions.adopt(foreign)
    },
    async transaction(fn) {
      now()
      return transactions.run(fn, now)
    },
    async enqueue(jobs, tx) {
      return transactions.write(tx, enqueueJobs(jobs, now()))
    },
    async claim(request) {
      const at = now()
      const outcomes = request.finish ?? []
      const finished = transactions.write(undefined, finishRuns(outcomes, at))
      if (queues.isPaused(request.queue)) return { runs: [], finished }
      return { ...claimJobs(rows, ids, at, request, new Set(outcomes.map(({ lease }) => lease.id))), finished }
    },
    async extend(leases, extension) {
      return extendLeases(rows, now(), leases, extension, queues.isPaused)
    },
    async finish(outcomes, tx) {
      return transactions.write(tx, finishRuns(outcomes, now()))
    },
    async reclaim(request) {
      return reclaimRuns(rows, ids, now(), request)
    },
    async beat(session) {
      return sessions.beat(session, now(), queues.isPaused)
    },
    async maintain({ limit }) {
      sessions.forget(now())
      return removeExpired(rows, now(), limit)
    },
    async close() {
      closed = true
      wakeups.end()
    },
    snapshot(filter = {}) {
      now()
      return [...matching(rows, filter)]
    },
    enqueueClaimed(job, { session, leaseMs, attempt }) {
      const at = now()
      return leaseRow(rows, { ...newRow(job, at), attempt: attempt - 1 }, { token: ids.next(), session, leaseMs }, at)
    },
  }
}

// There is nothing to set up, so nothing is ever pending.
function noSchema(check: () => number): Schema {
  return {
    async status() {
      check()
      return { applied: [], pending: [], unknown: [] }
    },
    async migrate() {
      check()
      return []
    },
  }
}
