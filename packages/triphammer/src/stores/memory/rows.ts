import type { JobId, SessionId } from '../../store/types.ts'
import { createPending, type Pending } from './pending.ts'
import { isRunning, type Row, type RunningRow } from './row.ts'

/** Where a verb reads and writes: the store's rows, or the draft of a transaction. */
export interface Rows {
  get(id: JobId): Row | undefined
  values(): Iterable<Row>
  put(row: Row): void
  delete(id: JobId): void
  /** Notes that something happened, from outside, to a run of this session. */
  disturb(session: SessionId): void
}

/** The rows of the store, with what claim and reclaim look things up by. */
export interface LiveRows extends Rows {
  readonly pending: Pending
  readonly running: ReadonlyMap<JobId, RunningRow>
}

/** Rows as one transaction sees them: its own changes over those of the store. */
export interface Draft extends Rows {
  /** Writes the changes to the store. */
  flush(): void
}

/** What the store wants to know of changes. */
export interface RowEvents {
  /** A job is pending that was not, or has moved; `before` is absent when it is new. */
  pending(row: Row, before: Row | undefined): void
  disturbed(session: SessionId): void
}

/** Makes the rows of a store. */
export function createRows(events: RowEvents): LiveRows {
  const rows = new Map<JobId, Row>()
  const running = new Map<JobId, RunningRow>()
  const pending = createPending()

  const forget = (row: Row): void => {
    if (row.state === 'pending') pending.drop(row)
    running.delete(row.id)
  }

  return {
    pending,
    running,
    get: (id) => rows.get(id),
    values: () => rows.values(),
    put(row) {
      const before = rows.get(row.id)
      if (before) forget(before)
      rows.set(row.id, row)
      if (isRunning(row)) running.set(row.id, row)
      if (row.state !== 'pending') return
      pending.add(row)
      events.pending(row, before)
    },
    delete(id) {
      const row = rows.get(id)
      if (row) forget(row)
      rows.delete(id)
    },
    disturb: events.disturbed,
  }
}

/** Opens a draft over the store's rows. What it has not touched itself it sees as it is there now. */
export function createDraft(base: Rows): Draft {
  const touched = new Map<JobId, Row | undefined>()
  const disturbed: SessionId[] = []

  return {
    get: (id) => (touched.has(id) ? touched.get(id) : base.get(id)),
    *values() {
      for (const row of base.values()) if (!touched.has(row.id)) yield row
      for (const row of touched.values()) if (row) yield row
    },
    put: (row) => void touched.set(row.id, row),
    delete: (id) => void touched.set(id, undefined),
    disturb: (session) => void disturbed.push(session),
    flush() {
      for (const [id, row] of touched) {
        if (row) base.put(row)
        else base.delete(id)
      }
      disturbed.forEach(base.disturb)
    },
  }
}
