import type { Ids } from '../../core/ids.ts'
import type { SqliteConnection } from '../../sql/sqlite-connection.ts'
import type { ReclaimRequest, Run } from '../../store/types.ts'
import { later, RUN_COLUMNS, runOf, text } from './rows.ts'
import { disturb, type Write } from './write.ts'

const EXPIRED = `select id, session, lease_until from triphammer_live indexed by triphammer_live_lease
  where lease_until is not null and lease_until <= ? and (? is null or queue in (select value from json_each(?)))
  order by lease_until, id limit ?`

interface Expired {
  readonly id: string
  readonly session: string
}

/** The runs whose leases have ended, those that ended first coming first. */
export function expiredRuns(db: SqliteConnection, now: number, { queues, limit }: ReclaimRequest): readonly Expired[] {
  const names = queues ? JSON.stringify(queues) : null
  return db.all(EXPIRED, [now, names, names, limit]).map((row) => ({ id: text(row, 'id'), session: text(row, 'session') }))
}

/** Leases expired runs to the caller; the attempt and its start stay as they are. */
export function reclaimRuns(write: Write, ids: Ids, request: ReclaimRequest): readonly Run[] {
  const expired = expiredRuns(write.db, write.now, request)
  if (expired.length === 0) return []
  const token = ids.next()
  const until = later(write.now, request.leaseMs)
  return expired.map(({ id, session }) => {
    const row = write.db.get(`update triphammer_live set token = ?, session = ?, lease_until = ? where id = ? returning ${RUN_COLUMNS}`, [
      token,
      request.session,
      until,
      id,
    ])
    if (session !== request.session) disturb(write, session)
    return runOf(row!)
  })
}
