import type { Ids } from '../../core/ids.ts'
import { LEVELS, levelRange, pickLevel, type Weights } from '../../core/priority.ts'
import type { SqliteConnection, SqliteValue } from '../../sql/sqlite-connection.ts'
import { number } from './rows.ts'

/** Which jobs of a queue a claim may take. */
export interface Wanted {
  readonly queue: string
  readonly now: number
  readonly tasks: readonly string[] | undefined
  /** Ids that are not taken. */
  readonly except: readonly string[]
}

/** A condition of a statement and its parameters. */
export interface Condition {
  readonly sql: string
  readonly parameters: readonly SqliteValue[]
}

/** The condition that a free, due job is wanted. */
export function wantedJobs({ queue, now, tasks, except }: Wanted): Condition {
  const parts: Condition[] = [{ sql: 'queue = ? and lease_until is null and run_at <= ?', parameters: [queue, now] }]
  if (tasks?.length === 1) parts.push({ sql: 'task = ?', parameters: tasks })
  else if (tasks) parts.push({ sql: 'task in (select value from json_each(?))', parameters: [JSON.stringify(tasks)] })
  if (except.length > 0) parts.push({ sql: 'id not in (select value from json_each(?))', parameters: [JSON.stringify(except)] })
  return { sql: parts.map(({ sql }) => sql).join(' and '), parameters: parts.flatMap(({ parameters }) => parameters) }
}

export const BY_CLAIM_INDEX = 'triphammer_live indexed by triphammer_live_claim'

// The priorities of a queue, found by a look into each gap between them: a million jobs of one priority cost one look.
const PRIORITIES = `with recursive level (priority) as (
    select (select priority from ${BY_CLAIM_INDEX} where queue = ? and lease_until is null order by priority limit 1)
    union all
    select (select priority from ${BY_CLAIM_INDEX} where queue = ? and lease_until is null and priority > level.priority
            order by priority limit 1)
    from level where level.priority is not null
  )`

/** The most urgent priority of which the queue has free jobs, whether they are due or not. */
export function firstPriority(db: SqliteConnection, queue: string): number | undefined {
  const row = db.get(`select priority from ${BY_CLAIM_INDEX} where queue = ? and lease_until is null order by priority limit 1`, [queue])
  return row && number(row, 'priority')
}

/** The priorities that have wanted jobs, most urgent first. */
export function duePriorities(db: SqliteConnection, wanted: Wanted): number[] {
  const { sql, parameters } = wantedJobs(wanted)
  const rows = db.all(
    `${PRIORITIES} select priority from level where priority is not null
       and exists (select 1 from ${BY_CLAIM_INDEX} where priority = level.priority and ${sql})`,
    [wanted.queue, wanted.queue, ...parameters],
  )
  return rows.map((row) => number(row, 'priority'))
}

/** When the first free job of the queue falls due, from a moment on. */
export function nextRunAt(db: SqliteConnection, queue: string, from: number): number | undefined {
  const row = db.get(
    `${PRIORITIES} select min((select run_at from ${BY_CLAIM_INDEX}
       where queue = ? and priority = level.priority and lease_until is null and run_at >= ? order by run_at limit 1)) as run_at
     from level where priority is not null`,
    [queue, queue, queue, from],
  )
  return row === undefined || row['run_at'] === null ? undefined : number(row, 'run_at')
}

/**
 * Goes through the priorities in the order in which a claim takes from them, until it has enough: by their number, or level
 * by level as the weights let it fall, with one random number for each level that is picked.
 *
 * @param take takes from one priority and returns whether more are wanted
 */
export function takeInOrder(
  priorities: readonly number[],
  weights: Weights | undefined,
  ids: Ids,
  take: (priority: number) => boolean,
): void {
  if (!weights) {
    priorities.every(take)
    return
  }
  const within = (level: (typeof LEVELS)[number]): number[] => {
    const { from, to } = levelRange(level)
    return priorities.filter((priority) => priority >= from && priority <= to)
  }
  let candidates = LEVELS.filter((level) => within(level).length > 0)
  while (candidates.length > 0) {
    const level = pickLevel(candidates, weights, ids.random())
    if (!within(level).every(take)) return
    candidates = candidates.filter((other) => other !== level)
  }
}
