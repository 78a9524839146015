import type { JobFilter } from '../../store/admin.ts'
import type { JobId } from '../../store/types.ts'
import type { Row } from './row.ts'
import type { Rows } from './rows.ts'

/** The rows that a filter lets through, in no particular order. */
export function* matching(rows: Rows, filter: JobFilter): Iterable<Row> {
  const candidates = filter.ids ? [...new Set(filter.ids)].map((id) => rows.get(id)) : rows.values()
  for (const row of candidates) if (row && matches(row, filter)) yield row
}

/** A page of the rows that a filter lets through, in the order of ids. */
export function selectPage(
  rows: Rows,
  filter: JobFilter,
  page: { readonly limit: number; readonly after?: JobId; readonly order: 'newest' | 'oldest' },
): { readonly rows: readonly Row[]; readonly next?: JobId } {
  const { limit, after, order } = page
  const sign = order === 'oldest' ? 1 : -1
  const compare = (a: JobId, b: JobId): number => (a === b ? 0 : a < b ? -sign : sign)
  const found = [...matching(rows, filter)]
    .filter((row) => after === undefined || compare(row.id, after) > 0)
    .sort((a, b) => compare(a.id, b.id))
  const selected = found.slice(0, limit)
  const last = selected.at(-1)
  return found.length > limit && last ? { rows: selected, next: last.id } : { rows: selected }
}

function matches(row: Row, filter: JobFilter): boolean {
  return (
    isOneOf(row.queue, filter.queues) &&
    isOneOf(row.task, filter.tasks) &&
    isOneOf(row.state, filter.states) &&
    isOneOf(row.priority, filter.priorities) &&
    isWithin(row.createdAt, filter.createdAfter, filter.createdBefore) &&
    isWithin(row.runAt, filter.runAfter, filter.runBefore) &&
    isWithin(row.endedAt, filter.endedAfter, filter.endedBefore) &&
    isWithin(row.lease?.until, undefined, filter.leaseBefore)
  )
}

function isOneOf<Value>(value: Value, allowed: readonly Value[] | undefined): boolean {
  return allowed === undefined || allowed.includes(value)
}

function isWithin(at: number | undefined, from: number | undefined, before: number | undefined): boolean {
  if (from === undefined && before === undefined) return true
  return at !== undefined && at >= (from ?? -Infinity) && at < (before ?? Infinity)
}
