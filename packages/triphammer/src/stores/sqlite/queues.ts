import type { SqliteConnection, SqliteRow } from '../../sql/sqlite-connection.ts'
import type { QueueInfo, QueuePatch } from '../../store/admin.ts'
import { nextRunAt } from './pick.ts'
import { number, orNull, text } from './rows.ts'
import type { Write } from './write.ts'

const COUNTS = `select queue as name, sum(lease_until is null) as pending, sum(lease_until is not null) as running from triphammer_live`

/** Every queue that has live jobs or that something was said about, by name. */
export function listQueues(db: SqliteConnection, now: number): readonly QueueInfo[] {
  const counts = new Map(db.all(`${COUNTS} group by queue`).map((row) => [text(row, 'name'), row]))
  const said = new Map(db.all('select * from triphammer_queues').map((row) => [text(row, 'name'), row]))
  const names = [...new Set([...counts.keys(), ...said.keys()])].sort()
  return names.map((name) => ({ ...infoOf(name, counts.get(name), said.get(name)), ...waitingSince(db, name, now) }))
}

/** Changes a queue. Pausing a paused one keeps the moment since when. */
export function setQueue(write: Write, name: string, { paused }: QueuePatch): QueueInfo {
  const { db, now, wake } = write
  db.run('insert into triphammer_queues (name) values (?) on conflict (name) do nothing', [name])
  if (paused === null) {
    db.run('update triphammer_queues set paused_since = null, paused_by = null, paused_reason = null where name = ?', [name])
    wake(name)
  } else if (paused) {
    db.run('update triphammer_queues set paused_since = coalesce(paused_since, ?), paused_by = ?, paused_reason = ? where name = ?', [
      now,
      orNull(paused.by),
      orNull(paused.reason),
      name,
    ])
  }
  const counts = db.get(`${COUNTS} where queue = ? group by queue`, [name])
  const info = infoOf(name, counts, db.get('select * from triphammer_queues where name = ?', [name]))
  return { ...info, ...waitingSince(db, name, now) }
}

function waitingSince(db: SqliteConnection, name: string, now: number): Pick<QueueInfo, 'waitingSince'> {
  const first = nextRunAt(db, name, 0)
  return first === undefined || first > now ? {} : { waitingSince: first }
}

function infoOf(name: string, counts: SqliteRow | undefined, said: SqliteRow | undefined): QueueInfo {
  const live = { pending: counts ? number(counts, 'pending') : 0, running: counts ? number(counts, 'running') : 0 }
  if (!said || said['paused_since'] === null) return { name, ...live }
  const paused = {
    ...(said['paused_by'] === null ? {} : { by: text(said, 'paused_by') }),
    ...(said['paused_reason'] === null ? {} : { reason: text(said, 'paused_reason') }),
    since: number(said, 'paused_since'),
  }
  return { name, ...live, paused }
}
