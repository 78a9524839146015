import type { Row } from './row.ts'

/**
 * The pending jobs, by queue, then by priority, each list in the order of run time and id: the due jobs of a priority are
 * the head of its list, so a claim looks at no more than it takes.
 */
export interface Pending {
  add(row: Row): void
  drop(row: Row): void
  /** The due jobs of a queue in the order in which they are to run: priority, run time, id. */
  due(queue: string, now: number, range?: PriorityRange): Iterable<Row>
  /** The earliest run time of the queue's pending jobs among those that `accepts` lets through. */
  earliest(queue: string, accepts: (row: Row) => boolean): number | undefined
}

/** Priorities, both ends included. */
export interface PriorityRange {
  readonly from: number
  readonly to: number
}

interface Level {
  readonly priority: number
  readonly rows: Row[]
}

const EVERY: PriorityRange = { from: -Infinity, to: Infinity }

/** Makes an empty {@link Pending}. */
export function createPending(): Pending {
  const queues = new Map<string, Level[]>()

  return {
    add(row) {
      const levels = queues.get(row.queue) ?? []
      queues.set(row.queue, levels)
      const at = position(levels, (level) => level.priority < row.priority)
      if (levels[at]?.priority !== row.priority) levels.splice(at, 0, { priority: row.priority, rows: [] })
      const { rows } = levels[at]!
      rows.splice(
        position(rows, (other) => isBefore(other, row)),
        0,
        row,
      )
    },
    drop(row) {
      const levels = queues.get(row.queue)!
      const at = position(levels, (level) => level.priority < row.priority)
      const { rows } = levels[at]!
      rows.splice(
        position(rows, (other) => isBefore(other, row)),
        1,
      )
      if (rows.length === 0) levels.splice(at, 1)
      if (levels.length === 0) queues.delete(row.queue)
    },
    *due(queue, now, { from, to } = EVERY) {
      for (const { priority, rows } of queues.get(queue) ?? []) {
        if (priority < from || priority > to) continue
        for (const row of rows) {
          if (row.runAt > now) break
          yield row
        }
      }
    },
    earliest(queue, accepts) {
      const heads = (queues.get(queue) ?? []).map(({ rows }) => rows.find(accepts)?.runAt ?? Infinity)
      const first = Math.min(...heads)
      return first === Infinity ? undefined : first
    },
  }
}

function isBefore(a: Row, b: Row): boolean {
  return a.runAt < b.runAt || (a.runAt === b.runAt && a.id < b.id)
}

// The index of the first item that is not before the place; the items that are before it come first.
function position<Item>(items: readonly Item[], isBeforePlace: (item: Item) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBeforePlace(items[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
