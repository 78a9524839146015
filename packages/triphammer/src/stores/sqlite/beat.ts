import { DEFAULTS } from '../../core/defaults.ts'
import type { SqliteConnection, SqliteRow } from '../../sql/sqlite-connection.ts'
import type { Beat, SessionInfo, SessionRecord } from '../../store/types.ts'
import { json, number, text } from './rows.ts'
import type { Write } from './write.ts'

/** A pulse with nothing new in it is written down when the last that was is this old. */
const WRITE_MS = 10_000

type StoredInfo = Omit<SessionInfo, 'id' | 'leaving'>

/** What there is to tell a session. */
export function readBeat(db: SqliteConnection, now: number, { id, queues }: SessionInfo): Beat {
  const own = db.get('select changes from triphammer_sessions where id = ?', [id])
  const paused = new Set(db.all('select name from triphammer_queues where paused_since is not null').map((row) => text(row, 'name')))
  const others = db.all('select info from triphammer_sessions where abs(? - seen_at) <= ? and id <> ?', [now, DEFAULTS.sessionLiveMs, id])
  const wanted = new Set(others.flatMap((row) => json<StoredInfo>(row, 'info').idle))
  return {
    changes: own ? number(own, 'changes') : 0,
    paused: queues.filter((queue) => paused.has(queue)),
    wanted: queues.filter((queue) => wanted.has(queue)),
  }
}

/** Whether a pulse is to be written down: it says something new, or the last that was is old. */
export function beatWrites(db: SqliteConnection, now: number, session: SessionInfo): boolean {
  const row = db.get('select seen_at, info from triphammer_sessions where id = ?', [session.id])
  if (session.leaving) return row !== undefined
  if (!row || row['seen_at'] === null) return true
  const age = now - number(row, 'seen_at')
  return age >= WRITE_MS || age < 0 || text(row, 'info') !== infoJson(session)
}

/** Writes a pulse down, or that the session has left. */
export function writeBeat({ db, now }: Write, session: SessionInfo): void {
  if (session.leaving) {
    db.run('delete from triphammer_sessions where id = ? and changes = 0', [session.id])
    db.run('update triphammer_sessions set seen_at = null, info = null where id = ?', [session.id])
    return
  }
  db.run(
    `insert into triphammer_sessions (id, seen_at, info) values (?, ?, ?)
     on conflict (id) do update set seen_at = excluded.seen_at, info = excluded.info`,
    [session.id, now, infoJson(session)],
  )
}

/** Forgets who was not heard of for five minutes, or in a future that a clock which was set back has left behind. Answers nothing: a session is no job. */
export function forgetSessions({ db, now }: Write): void {
  const aged = [now, DEFAULTS.sessionForgetMs]
  db.run('update triphammer_sessions set seen_at = null, info = null where abs(? - seen_at) > ?', aged)
  db.run('delete from triphammer_sessions where seen_at is null and abs(? - changed_at) > ?', aged)
}

/** Whether there is a session to forget. */
export function hasDeadSessions(db: SqliteConnection, now: number): boolean {
  const aged = [now, DEFAULTS.sessionForgetMs]
  return db.get('select 1 from triphammer_sessions where abs(? - coalesce(seen_at, changed_at)) > ?', aged) !== undefined
}

/** The sessions that have been heard of. */
export function listSessions(db: SqliteConnection): readonly SessionRecord[] {
  return db.all('select id, seen_at, info from triphammer_sessions where seen_at is not null order by id').map(sessionOf)
}

function sessionOf(row: SqliteRow): SessionRecord {
  return { id: text(row, 'id'), ...json<StoredInfo>(row, 'info'), seenAt: number(row, 'seen_at') }
}

function infoJson({ host, pid, startedAt, queues, tasks, concurrency, running, held, idle }: SessionInfo): string {
  return JSON.stringify({ host, pid, startedAt, queues, tasks, concurrency, running, held, idle } satisfies StoredInfo)
}
