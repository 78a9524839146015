import type { JobState } from '../core/state.ts'
import type { AnyTask } from '../core/task.ts'
import type { StoredJob } from '../memory.ts'

/** A payload as it is stored, which is JSON: a `Date` has become text. */
export type Stored<Value> = Value extends { toJSON(): infer Json }
  ? Json
  : Value extends object
    ? { readonly [Key in keyof Value]: Stored<Value[Key]> }
    : Value

/** Some of a payload, at every depth. */
export type Partially<Value> = Value extends { toJSON(): unknown }
  ? Value | Stored<Value>
  : Value extends object
    ? { readonly [Key in keyof Value]?: Partially<Value[Key]> | undefined }
    : Value

/** A job in the store of a test kit, as it was at the moment of asking. */
export interface TestJob<Payload = unknown> {
  /** A UUID. */
  readonly id: string
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
  /** Where it stands. */
  readonly state: JobState
  /** As it is stored. */
  readonly payload: Payload
  /** Lower runs first. */
  readonly priority: number
  /** Attempts so far. */
  readonly attempt: number
  /** Attempts that it has, at most. */
  readonly maxAttempts: number
  /** When it was enqueued, by the kit's clock. */
  readonly createdAt: Date
  /** When it is due, or was. */
  readonly runAt: Date
}

/** A job of the store as tests see it. */
export function toTestJob(job: StoredJob): TestJob {
  const { id, task, queue, state, payload, priority, attempt, maxAttempts, createdAt, runAt } = job
  return {
    ...{ id, task, queue, state, priority, attempt, maxAttempts },
    payload: JSON.parse(payload),
    createdAt: new Date(createdAt),
    runAt: new Date(runAt),
  }
}

/** How tasks are counted in a message: `send_email ×2, resize`. */
export function countTasks(jobs: Iterable<{ readonly task: AnyTask['name'] }>): string {
  const counts = new Map<string, number>()
  for (const { task } of jobs) counts.set(task, (counts.get(task) ?? 0) + 1)
  return [...counts].map(([task, count]) => (count === 1 ? task : `${task} ×${count}`)).join(', ')
}
