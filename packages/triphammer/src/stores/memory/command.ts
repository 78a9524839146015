import { cancelFailure } from '../../core/failure.ts'
import { isFinal } from '../../core/state.ts'
import type { AdminCommand, Applied, JobFilter, Slice } from '../../store/admin.ts'
import type { JobRef } from '../../store/types.ts'
import { ended, waiting } from './finish.ts'
import { later, type Row, refOf } from './row.ts'
import type { Rows } from './rows.ts'
import { selectPage } from './select.ts'
import type { Write } from './transaction.ts'

/** Does what a person commands to a slice of jobs. */
export function applyCommand(filter: JobFilter, command: AdminCommand, slice: Slice, now: number): Write<Applied> {
  return changeSlice(filter, slice, (rows, row) => {
    const after = commanded(row, command, now)
    if (!after) return undefined
    rows.put(after)
    return refOf(after)
  })
}

/** Deletes a slice of jobs; each is answered with the state that it had. */
export function removeJobs(filter: JobFilter, slice: Slice & { readonly force?: boolean }): Write<Applied> {
  return changeSlice(filter, slice, (rows, row) => {
    if (row.lease && !slice.force) return undefined
    rows.delete(row.id)
    return refOf(row)
  })
}

/** Changes one row and tells what became of it, or leaves it alone. */
type Change = (rows: Rows, row: Row) => JobRef | undefined

function changeSlice(filter: JobFilter, slice: Slice, change: Change): Write<Applied> {
  const changeOne: Change = (rows, row) => {
    const ref = change(rows, row)
    if (ref && row.lease) rows.disturb(row.lease.session)
    return ref
  }
  return (rows) => {
    const page = selectPage(rows, filter, { ...slice, order: 'oldest' })
    const changed: JobRef[] = []
    const refused: JobRef[] = []
    for (const row of page.rows) {
      const ref = changeOne(rows, row)
      if (ref) changed.push(ref)
      else refused.push(refOf(row))
    }
    const answer: Applied = { changed, refused, ...(page.next === undefined ? {} : { next: page.next }) }
    const again = (others: Rows): boolean =>
      changed.every(({ id, state }) => {
        const row = others.get(id)
        return row !== undefined && changeOne(others, row)?.state === state
      })
    return { answer, again }
  }
}

// The row after the command, or undefined where the command does not apply to its state.
function commanded(row: Row, command: AdminCommand, now: number): Row | undefined {
  switch (command.kind) {
    case 'retry':
      return retried(row, command.at ?? later(now, command.delayMs ?? 0))
    case 'kill':
      if (row.state === 'completed' || row.state === 'dead' || row.state === 'cancelled') return undefined
      return { ...ended(row, 'dead', now), error: command.error }
    case 'fail':
      if (isFinal(row.state)) return undefined
      return { ...ended(row, 'failed', now), error: command.error }
    case 'cancel':
      return cancelled(row, command.reason ?? row.cancel?.reason, command.force ?? false, now)
    case 'reschedule':
      return row.state === 'pending' ? { ...row, runAt: command.at ?? later(now, command.delayMs ?? 0) } : undefined
    case 'reprioritise':
      return row.state === 'pending' ? { ...row, priority: command.priority } : undefined
  }
}

function retried(row: Row, runAt: number): Row | undefined {
  if (row.state === 'completed') return undefined
  if (!isFinal(row.state)) return waiting(row, runAt)
  return { ...waiting(row, runAt), attempt: 0, startedAt: undefined, endedAt: undefined }
}

function cancelled(row: Row, reason: string | undefined, force: boolean, now: number): Row | undefined {
  if (isFinal(row.state)) return undefined
  if (row.state === 'running' && !force) return { ...row, cancel: { reason } }
  return { ...ended(row, 'cancelled', now), error: cancelFailure(reason) }
}
