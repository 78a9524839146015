import type { SqliteValue } from '../../sql/sqlite-connection.ts'
import type { JobFilter } from '../../store/admin.ts'
import type { Condition } from './pick.ts'

/** Where jobs are, and how each place shows as one kind of row. */
interface Source {
  readonly table: string
  readonly states: readonly string[]
  readonly state: string
  /** Columns that only some of the tables have. */
  readonly own: Readonly<Record<'ended_at' | 'lease_until' | 'session' | 'cancel' | 'result', string>>
}

const NOTHING = { ended_at: 'null', lease_until: 'null', session: 'null', cancel: 'null', result: 'null' }

const SOURCES: readonly Source[] = [
  {
    table: 'triphammer_live',
    states: ['pending', 'running'],
    state: "iif(lease_until is null, 'pending', 'running')",
    own: { ...NOTHING, lease_until: 'lease_until', session: 'session', cancel: 'cancel' },
  },
  {
    table: 'triphammer_ended',
    states: ['dead', 'timed_out', 'failed', 'cancelled'],
    state: 'state',
    own: { ...NOTHING, ended_at: 'ended_at' },
  },
  {
    table: 'triphammer_history',
    states: ['completed'],
    state: "'completed'",
    own: { ...NOTHING, ended_at: 'ended_at', result: 'result' },
  },
]

const SHARED =
  'id, task, queue, priority, attempt, max_attempts, created_at, run_at, started_at, timeout_ms, retain_ms, retry, error, progress, payload'

/** The jobs that a filter lets through, from wherever they are, as a query without an order. */
export function matchingJobs(filter: JobFilter): Condition {
  return matching(filter, undefined)
}

/** The same, ready to be taken in the order of ids: each table is read by its ids, so that a page costs what it skips and holds. */
export function matchingJobsById(filter: JobFilter, beyond: Condition): Condition {
  return matching(filter, beyond)
}

function matching(filter: JobFilter, beyond: Condition | undefined): Condition {
  const { states } = filter
  const places = SOURCES.filter(
    (source) => states === undefined || source.states.some((state) => (states as readonly string[]).includes(state)),
  )
  // No state at all is a filter that lets nothing through; a query must select from somewhere.
  const used = places.length > 0 ? places : SOURCES.slice(0, 1)
  const parts = used.map((source) => selectFrom(source, filter, beyond))
  return { sql: parts.map(({ sql }) => sql).join(' union all '), parameters: parts.flatMap(({ parameters }) => parameters) }
}

function selectFrom({ table, state, own }: Source, filter: JobFilter, beyond: Condition | undefined): Condition {
  const special = Object.entries(own).map(([name, sql]) => `${sql} as ${name}`)
  const conditions = [...conditionsOf(filter, state, own), ...(beyond ? [beyond] : [])]
  const where = conditions.map(({ sql }) => sql).join(' and ')
  return {
    sql: `select ${SHARED}, ${state} as state, ${special.join(', ')} from ${table}${beyond ? ` indexed by ${table}_id` : ''}${where === '' ? '' : ` where ${where}`}`,
    parameters: conditions.flatMap(({ parameters }) => parameters),
  }
}

function conditionsOf(filter: JobFilter, state: string, own: Source['own']): Condition[] {
  return [
    ...oneOf('id', filter.ids),
    ...oneOf('queue', filter.queues),
    ...oneOf('task', filter.tasks),
    ...oneOf(state, filter.states),
    ...oneOf('priority', filter.priorities),
    ...compared('created_at', filter.createdAfter, filter.createdBefore),
    ...compared('run_at', filter.runAfter, filter.runBefore),
    ...compared(own.ended_at, filter.endedAfter, filter.endedBefore),
    ...compared(own.lease_until, undefined, filter.leaseBefore),
  ]
}

function oneOf(column: string, values: readonly SqliteValue[] | undefined): Condition[] {
  return values === undefined ? [] : [{ sql: `${column} in (select value from json_each(?))`, parameters: [JSON.stringify(values)] }]
}

function compared(column: string, from: number | undefined, before: number | undefined): Condition[] {
  return [
    ...(from === undefined ? [] : [{ sql: `${column} >= ?`, parameters: [from] }]),
    ...(before === undefined ? [] : [{ sql: `${column} < ?`, parameters: [before] }]),
  ]
}
