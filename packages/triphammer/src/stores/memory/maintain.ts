import { DEFAULTS } from '../../core/defaults.ts'
import type { Maintained } from '../../store/types.ts'
import { later, type Row } from './row.ts'
import type { Rows } from './rows.ts'

/** Removes completed jobs whose time is over, at most `limit` of them. */
export function removeExpired(rows: Rows, now: number, limit: number): Maintained {
  const expired = [...rows.values()].filter((row) => isExpired(row, now))
  const removed = expired.slice(0, limit)
  for (const { id } of removed) rows.delete(id)
  return { removed: removed.length, more: expired.length > removed.length }
}

// Only what succeeded goes by itself; the rest is kept until someone purges it.
function isExpired(row: Row, now: number): boolean {
  if (row.state !== 'completed' || row.endedAt === undefined) return false
  return later(row.endedAt, row.retainMs ?? DEFAULTS.retainMs) <= now
}
