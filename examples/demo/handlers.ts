import { dirname, join } from 'node:path'
import { type Client, discard, type JobSpec, snooze } from 'triphammer'
import { type Handler, type HandlerContext, handle } from 'triphammer/worker'
import { idOf } from './ids.ts'
import { inspectEntry } from './inspect.ts'
import { joinPath, toBytes, toName } from './names.ts'
import { buildReport, type Summary, summarise } from './report.ts'
import { writeReportFile } from './report-file.ts'
import { eachJob, forgetEarlierRuns, unfinished } from './runs.ts'
import { indexEntry, type ReportPayload, type ScanPayload, scanFolder, TRIES, writeReport } from './tasks.ts'
import { type Found, walk } from './walk.ts'

/** Where the demo keeps its state, below the current folder. */
export const STATE_FOLDER = '.triphammer'

/** Names that are not indexed, wherever they occur. */
export const EXCLUDED: readonly string[] = ['.git', 'node_modules', STATE_FOLDER]

/** Jobs that are enqueued in one transaction. */
const CHUNK = 500

/** What the handlers of this copy work with. */
export interface HandlerOptions {
  readonly jobs: Client
  /** Where the report goes, absolute. It is not indexed itself. */
  readonly output: string
}

/** The functions that do the work. */
export function createHandlers(options: HandlerOptions): readonly Handler[] {
  return [
    handle(scanFolder, (context) => orGiveUp(context.attempt, () => scan(options, context))),
    handle(indexEntry, ({ payload, attempt, signal }) =>
      orGiveUp(attempt, () => inspectEntry(Buffer.from(payload.root), toBytes(payload), signal)),
    ),
    handle(writeReport, (context) => orGiveUp(context.attempt, () => report(options, context))),
  ]
}

/** The task's policy says when to try again after an error of the file system; this says when it has been enough. */
async function orGiveUp<Result>(attempt: number, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const fromFileSystem = error instanceof Error && 'syscall' in error
    if (fromFileSystem && attempt >= TRIES) throw discard(error)
    throw error
  }
}

/** Interrupted and begun anew, it enqueues the same ids again: what was there already is a duplicate. */
async function scan({ jobs, output }: HandlerOptions, { payload, job, signal }: HandlerContext<ScanPayload>): Promise<{ found: number }> {
  const root = Buffer.from(payload.root)
  const report = Buffer.from(output)
  let found = 0
  let chunk: JobSpec[] = []
  const flush = async (): Promise<void> => {
    signal.throwIfAborted()
    await jobs.enqueueMany(chunk)
    found += chunk.length
    chunk = []
  }
  for await (const entry of walk({ root, start: toBytes(payload), excluded: EXCLUDED })) {
    if (joinPath(root, entry.path).equals(report)) continue
    chunk.push(jobFor(entry, payload, job.queue))
    if (chunk.length === CHUNK) await flush()
  }
  await flush()
  return { found }
}

/** A folder that could not be listed gets a scan of its own, which is tried again as a file would be. */
function jobFor({ kind, path }: Found, { run, root }: ScanPayload, queue: string): JobSpec {
  if (kind === 'folder') return scanFolder.with({ run, root, ...toName(path) }, { id: idOf(run, 'scan', path), queue })
  return indexEntry.with({ root, ...toName(path) }, { id: idOf(run, 'index', path), queue })
}

/** Waits for the others without an attempt of its own being counted, then reads what they found from the jobs themselves. */
async function report({ jobs, output }: HandlerOptions, { payload, job }: HandlerContext<ReportPayload>): Promise<Summary> {
  const { queue } = job
  if ((await jobs.count(unfinished(queue))) > 0) throw snooze('250ms')
  const { run, root, number } = payload
  const rootScan = await jobs.get(idOf(run, 'scan', ''))
  if (rootScan?.state !== 'completed') throw discard(`the folder could not be scanned: ${rootScan?.error?.message ?? 'its scan is gone'}`)

  const subject = { folder: root, excluded: EXCLUDED, run: { id: run, number, startedAt: job.createdAt, finishedAt: new Date() } }
  const full = await buildReport(subject, eachJob(jobs, { queue, task: [scanFolder, indexEntry] }))
  await writeReportFile(full, output, join(dirname(output), STATE_FOLDER, `report-${process.pid}-${job.attempt}.json`))
  await forgetEarlierRuns(jobs, { root, number })
  return summarise(full, output)
}
