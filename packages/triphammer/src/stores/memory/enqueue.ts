import { isFinal } from '../../core/state.ts'
import type { EnqueueResult, NewJob } from '../../store/types.ts'
import { newRow } from './row.ts'
import type { Rows } from './rows.ts'
import type { Write } from './transaction.ts'

/** Inserts jobs. Those whose ids are known already are duplicates and change nothing. */
export function enqueueJobs(jobs: readonly NewJob[], now: number): Write<readonly EnqueueResult[]> {
  return (rows) => {
    const answer = jobs.map((job) => insert(rows, job, now))
    const inserted = jobs.filter((_, index) => answer[index]!.status === 'inserted')
    return { answer, again: (others) => inserted.every((job) => insert(others, job, now).status === 'inserted') }
  }
}

function insert(rows: Rows, job: NewJob, now: number): EnqueueResult {
  const known = rows.get(job.id)
  if (known && (!isFinal(known.state) || job.repeat)) return { id: job.id, status: 'duplicate' }
  rows.put(newRow(job, now))
  return { id: job.id, status: 'inserted' }
}
