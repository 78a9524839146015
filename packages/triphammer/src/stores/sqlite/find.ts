import type { SqliteConnection, SqliteRow } from '../../sql/sqlite-connection.ts'
import type { Count, CountKey, JobFilter, JobPage, Page } from '../../store/admin.ts'
import type { JobId } from '../../store/types.ts'
import { matchingJobs, matchingJobsById } from './filter.ts'
import type { Condition } from './pick.ts'
import { number, recordOf, text } from './rows.ts'

/** A page of jobs in the order of ids. */
export function selectPage(
  db: SqliteConnection,
  filter: JobFilter,
  { limit, order, after }: Page,
): { readonly rows: readonly SqliteRow[]; readonly next?: JobId } {
  const { sql, parameters } = matchingJobsById(filter, beyondId(order, after))
  // One more than asked for shows whether there is more.
  const found = db.all(`${sql} order by id ${order === 'oldest' ? 'asc' : 'desc'} limit ?`, [...parameters, limit + 1])
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return found.length > limit && last ? { rows, next: text(last, 'id') } : { rows }
}

function beyondId(order: Page['order'], after: JobId | undefined): Condition {
  if (after === undefined) return { sql: 'true', parameters: [] }
  return { sql: order === 'oldest' ? 'id > ?' : 'id < ?', parameters: [after] }
}

/** What `find` answers. */
export function findJobs(db: SqliteConnection, filter: JobFilter, page: Page): JobPage {
  const { rows, next } = selectPage(db, filter, page)
  return { jobs: rows.map(recordOf), ...(next === undefined ? {} : { next }) }
}

/** What `count` answers, in the order of keys. */
export function countJobs(db: SqliteConnection, filter: JobFilter, by: CountKey | undefined): readonly Count[] {
  const { sql, parameters } = matchingJobs(filter)
  const group = by === undefined ? "'all'" : by
  const rows = db.all(`select ${group} as key, count(*) as count from (${sql})${by === undefined ? '' : ' group by 1'}`, parameters)
  return rows.map((row) => ({ key: String(row['key']), count: number(row, 'count') })).sort((a, b) => (a.key < b.key ? -1 : 1))
}
