import type { Client, Job, JobFilterInput } from 'triphammer'
import { idOf } from './ids.ts'
import { indexEntry, type ReportPayload, scanFolder, writeReport } from './tasks.ts'

/** One pass over a folder. All its jobs are in a queue of its own. */
export interface DemoRun {
  readonly id: string
  /** 1 for the first run over this folder. */
  readonly number: number
  readonly root: string
  readonly queue: string
  readonly scanId: string
  readonly reportId: string
}

/**
 * Joins the unfinished run over a folder, or begins the next one. Nobody has to remember which run that is: its id follows
 * from the folder and the number of its last finished run, so a copy that starts after a crash and one that starts at the
 * same time come to the same, and what they both enqueue is there once.
 *
 * @param root absolute
 */
export async function joinRun(jobs: Client, root: string): Promise<{ readonly run: DemoRun; readonly resumed: boolean }> {
  const number = (await lastFinished(jobs, root)) + 1
  const run = runOf(root, number)
  const [scan] = await jobs.enqueueMany([
    scanFolder.with({ run: run.id, root, path: '' }, { id: run.scanId, queue: run.queue }),
    writeReport.with({ run: run.id, root, number }, { id: run.reportId, queue: run.queue }),
  ])
  const resumed = scan?.status === 'duplicate'
  // A run that failed as a whole (the folder was gone, the report could not be written) gets another chance.
  if (resumed) await jobs.retry({ id: [run.scanId, run.reportId], state: ['unsuccessful', 'cancelled'] })
  return { run, resumed }
}

/** Deletes what earlier runs over the folder found; their reports stay, since runs are counted by them. */
export async function forgetEarlierRuns(jobs: Client, run: Pick<DemoRun, 'root' | 'number'>): Promise<void> {
  const earlier = Array.from({ length: run.number - 1 }, (_, i) => runOf(run.root, i + 1).queue)
  if (earlier.length > 0) await jobs.delete({ queue: earlier, task: [scanFolder, indexEntry] })
}

/** The scan and index jobs of a run that are still to be done. */
export function unfinished(queue: string): JobFilterInput {
  return { queue, task: [scanFolder, indexEntry], state: ['pending', 'running'] }
}

/** All jobs of a filter, page by page. */
export async function* eachJob(jobs: Client, filter: JobFilterInput): AsyncGenerator<Job> {
  let after: string | undefined
  do {
    const page = await jobs.list(filter, { limit: 1_000, order: 'oldest', ...(after === undefined ? {} : { after }) })
    yield* page.jobs
    after = page.next
  } while (after !== undefined)
}

function runOf(root: string, number: number): DemoRun {
  const id = idOf('run', root, String(number))
  return { id, number, root, queue: `demo ${id}`, scanId: idOf(id, 'scan', ''), reportId: idOf(id, 'report') }
}

async function lastFinished(jobs: Client, root: string): Promise<number> {
  let last = 0
  for await (const { payload } of eachJob(jobs, { task: writeReport, state: 'completed' })) {
    const report = payload as ReportPayload
    if (report.root === root) last = Math.max(last, report.number)
  }
  return last
}
