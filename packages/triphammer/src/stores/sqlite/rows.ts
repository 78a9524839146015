import type { JobFailure } from '../../core/failure.ts'
import type { RetryPolicy } from '../../core/retry.ts'
import type { JobState } from '../../core/state.ts'
import type { SqliteList, SqliteRow, SqliteValue } from '../../sql/sqlite-connection.ts'
import type { JobRecord } from '../../store/admin.ts'
import type { JobRef, Run } from '../../store/types.ts'

/** The moment `ms` after another, in whole milliseconds: a fraction counts as a full one, so that nothing is early. */
export function later(at: number, ms: number): number {
  return at + Math.ceil(ms)
}

/** What {@link runOf} reads, in this order; other columns may follow. What is known already is not read again: each column of each row costs. */
export const RUN_COLUMNS = 'id, task, payload, attempt, max_attempts, run_at, created_at, timeout_ms, retry, retain_ms, cancel'

type RunRow = readonly [
  ...[id: string, task: string, payload: string, attempt: number, maxAttempts: number, runAt: number, createdAt: number],
  ...[timeoutMs: number | null, retry: string | null, retainMs: number | null, cancel: string | null],
]

/** What whoever leases runs knows of them. */
export interface Leased {
  readonly queue: string
  readonly priority: number
  readonly token: string
  readonly claimedAt: number
}

/** A running row as its holder sees it. Written out, for it is called for each job: spreading what may be absent took twice as long. */
export function runOf(row: SqliteList, { queue, priority, token, claimedAt }: Leased): Run {
  const [id, task, payload, attempt, maxAttempts, runAt, createdAt, timeoutMs, retry, retainMs, cancel] = row as unknown as RunRow
  const run: { -readonly [Key in keyof Run]: Run[Key] } = {
    lease: { id, token },
    id,
    task,
    queue,
    payload,
    priority,
    attempt,
    maxAttempts,
    runAt,
    createdAt,
    claimedAt,
    links: 0,
  }
  if (timeoutMs !== null) run.timeoutMs = timeoutMs
  if (retainMs !== null) run.retainMs = retainMs
  const policy = retry === null ? undefined : readable<RetryPolicy>(retry)
  if (policy) run.retry = policy
  if (cancel !== null) run.cancelRequested = true
  return run
}

/** A row of any of the three tables as people see it. */
export function recordOf(row: SqliteRow): JobRecord {
  const optional = <Name extends string, Value>(name: Name, column: string, read: (row: SqliteRow, column: string) => Value) =>
    row[column] === null ? {} : ({ [name]: read(row, column) } as Record<Name, Value>)
  const retry = retryOf(row)
  return {
    ...refOf(row),
    payload: text(row, 'payload'),
    priority: number(row, 'priority'),
    attempt: number(row, 'attempt'),
    maxAttempts: number(row, 'max_attempts'),
    createdAt: number(row, 'created_at'),
    runAt: number(row, 'run_at'),
    ...optional('startedAt', 'started_at', number),
    ...optional('endedAt', 'ended_at', number),
    ...optional('leaseUntil', 'lease_until', number),
    ...optional('session', 'session', text),
    ...optional('timeoutMs', 'timeout_ms', number),
    ...optional('retainMs', 'retain_ms', number),
    ...(retry ? { retry } : {}),
    ...optional('error', 'error', failureOf),
    ...optional('result', 'result', text),
    ...optional('progress', 'progress', text),
    ...optional('cancelRequested', 'cancel', () => true as const),
  }
}

/** A row as a reference. */
export function refOf(row: SqliteRow): JobRef {
  return { id: text(row, 'id'), task: text(row, 'task'), queue: text(row, 'queue'), state: text(row, 'state') as JobState }
}

function retryOf(row: SqliteRow): RetryPolicy | undefined {
  return row['retry'] === null ? undefined : readable<RetryPolicy>(text(row, 'retry'))
}

function failureOf(row: SqliteRow, column: string): JobFailure {
  return readable<JobFailure>(text(row, column)) ?? { name: 'Error', message: text(row, column) }
}

// A row that somebody changed by hand must not hide the others.
function readable<Value>(text: string): Value | undefined {
  try {
    return JSON.parse(text) as Value
  } catch {
    return undefined
  }
}

/** A column that holds text. */
export function text(row: SqliteRow, column: string): string {
  return row[column] as string
}

/** A column that holds a number. */
export function number(row: SqliteRow, column: string): number {
  return row[column] as number
}

/** A column that holds JSON of ours. */
export function json<Value>(row: SqliteRow, column: string): Value {
  return JSON.parse(text(row, column)) as Value
}

/** What a column holds for a value that may be absent. */
export function orNull(value: string | number | undefined): SqliteValue {
  return value ?? null
}

/** What a column holds for a value of ours that is kept as JSON. */
export function jsonOrNull(value: object | undefined): SqliteValue {
  return value === undefined ? null : JSON.stringify(value)
}

/** The JSON of a request to cancel. */
export function cancelJson(reason: string | undefined): string {
  return JSON.stringify({ reason })
}

/** The reason in the JSON of a request to cancel. */
export function cancelReason(row: SqliteRow): string | undefined {
  return row['cancel'] === null ? undefined : readable<{ readonly reason?: string }>(text(row, 'cancel'))?.reason
}
