import type { Clock } from '../../core/clock.ts'
import type { Ids } from '../../core/ids.ts'
import type { SqliteConnection } from '../../sql/sqlite-connection.ts'
import type { Store } from '../../store/store.ts'
import type { ReclaimRequest, Run } from '../../store/types.ts'
import type { Database } from './database.ts'
import { later, number, RUN_COLUMNS, runOf, text } from './rows.ts'
import { disturb, type Write } from './write.ts'

/** A wait for the lock that makes leases doubtful: an eighth of a lease, at most and before a lease is known this. */
const LONG_WAIT_MS = 1_000
const LONG_FIRST_WAIT_MS = 100
/** A database that is busy for ever must not keep the jobs of crashed workers for ever. A worker asks four times in a lease. */
const REFUSALS_MAX = 8

/** The verb `reclaim`, and what it has to know. */
export interface Reclaimer {
  readonly reclaim: Store['reclaim']
  /** A write of this store has waited so long for the lock, whether it got it or not. */
  waited(ms: number): void
}

/**
 * Makes the verb `reclaim`.
 *
 * While somebody holds the write lock nobody can extend a lease, so those of live workers run out as well, and the first to
 * reclaim afterwards would take jobs whose workers are about to extend: with leases of 1 s, each lock of 1.2 to 1.8 s had 10
 * to 15 jobs run twice (measured). So whoever has noticed a long lock leaves expired leases alone for half a lease: live
 * workers extend theirs each third of one.
 */
export function createReclaimer({ database, clock, ids }: ReclaimerOptions): Reclaimer {
  let longWaitMs = LONG_FIRST_WAIT_MS
  let waitedAt = Number.NEGATIVE_INFINITY
  let refusals = 0

  const refuse = (leaseMs: number): boolean => {
    const isDoubtful = clock.monotonic() - waitedAt < leaseMs / 2 && refusals < REFUSALS_MAX
    if (isDoubtful) refusals++
    return isDoubtful
  }
  const take = async (request: ReclaimRequest): Promise<readonly Run[]> => {
    const { leaseMs } = request
    longWaitMs = Math.min(LONG_WAIT_MS, leaseMs / 8)
    const isExpired = await database.read((db, now) => expiredRuns(db, now, request).length > 0)
    return isExpired ? database.write((write) => (refuse(leaseMs) ? [] : reclaimRuns(write, ids, request))) : []
  }
  return {
    waited(ms) {
      if (ms > longWaitMs) waitedAt = clock.monotonic()
    },
    async reclaim(request) {
      const before = refusals
      try {
        return await take(request)
      } finally {
        // Taken, nothing there, or locked even now: what was refused before does not count any more.
        if (refusals === before) refusals = 0
      }
    },
  }
}

interface ReclaimerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

const EXPIRED = `select id, session, queue, priority, started_at, lease_until from triphammer_live indexed by triphammer_live_lease
  where lease_until is not null and lease_until <= ? and (? is null or queue in (select value from json_each(?)))
  order by lease_until, id limit ?`

interface Expired {
  readonly id: string
  readonly session: string
  readonly queue: string
  readonly priority: number
  readonly claimedAt: number
}

// The runs whose leases have ended, those that ended first coming first.
function expiredRuns(db: SqliteConnection, now: number, { queues, limit }: ReclaimRequest): readonly Expired[] {
  const names = queues ? JSON.stringify(queues) : null
  return db.all(EXPIRED, [now, names, names, limit]).map((row) => ({
    id: text(row, 'id'),
    session: text(row, 'session'),
    queue: text(row, 'queue'),
    priority: number(row, 'priority'),
    claimedAt: number(row, 'started_at'),
  }))
}

/** Leases expired runs to the caller; the attempt and its start stay as they are. */
export function reclaimRuns(write: Write, ids: Ids, request: ReclaimRequest): readonly Run[] {
  const expired = expiredRuns(write.db, write.now, request)
  if (expired.length === 0) return []
  const token = ids.next()
  const until = later(write.now, request.leaseMs)
  return expired.map(({ id, session, queue, priority, claimedAt }) => {
    const [row] = write.db.lists(
      `update triphammer_live set token = ?, session = ?, lease_until = ? where id = ? returning ${RUN_COLUMNS}`,
      [token, request.session, until, id],
    )
    if (session !== request.session) disturb(write, session)
    return runOf(row!, { queue, priority, token, claimedAt })
  })
}
