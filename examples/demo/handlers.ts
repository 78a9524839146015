import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Client, discard, type JobSpec, snooze } from 'triphammer'
import { type Handler, handle } from 'triphammer/worker'
import { idOf } from './ids.ts'
import { inspectEntry } from './inspect.ts'
import { joinPath, toBytes, toName } from './names.ts'
import { buildReport, type Summary, summarise } from './report.ts'
import { eachJob, forgetEarlierRuns, unfinished } from './runs.ts'
import { indexEntry, type ReportPayload, type ScanPayload, scanFolder, TRIES, writeReport } from './tasks.ts'
import { type Found, walk } from './walk.ts'

/** Where the demo keeps its state, below the current folder. */
export const STATE_FOLDER = '.triphammer'

/** Names that are not indexed, wherever they occur. */
export const EXCLUDED: readonly string[] = ['.git', 'node_modules', STATE_FOLDER]

/** Jobs that are enqueued in one transaction. */
const CHUNK = 500

/** The functions that do the work. */
export function createHandlers(jobs: Client): readonly Handler[] {
  return [
    handle(scanFolder, ({ payload, job, attempt, signal }) => orGiveUp(attempt, () => scan({ jobs, payload, queue: job.queue, signal }))),
    handle(indexEntry, ({ payload, attempt, signal }) =>
      orGiveUp(attempt, () => inspectEntry(Buffer.from(payload.root), toBytes(payload), signal)),
    ),
    handle(writeReport, ({ payload, job, attempt }) =>
      orGiveUp(attempt, () => report({ jobs, payload, queue: job.queue, startedAt: job.createdAt })),
    ),
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

interface Scan {
  readonly jobs: Client
  readonly payload: ScanPayload
  readonly queue: string
  readonly signal: AbortSignal
}

/** Interrupted and begun anew, it enqueues the same ids again: what was there already is a duplicate. */
async function scan({ jobs, payload, queue, signal }: Scan): Promise<{ readonly found: number }> {
  const root = Buffer.from(payload.root)
  const output = Buffer.from(payload.output)
  let found = 0
  let chunk: JobSpec[] = []
  const flush = async (): Promise<void> => {
    signal.throwIfAborted()
    await jobs.enqueueMany(chunk)
    found += chunk.length
    chunk = []
  }
  for await (const entry of walk({ root, start: toBytes(payload), excluded: EXCLUDED })) {
    if (joinPath(root, entry.path).equals(output)) continue
    chunk.push(jobFor(entry, payload, queue))
    if (chunk.length === CHUNK) await flush()
  }
  await flush()
  return { found }
}

/** A folder that could not be listed gets a scan of its own, which is tried again as a file would be. */
function jobFor({ kind, path }: Found, { run, root, output }: ScanPayload, queue: string): JobSpec {
  if (kind === 'folder') return scanFolder.with({ run, root, output, ...toName(path) }, { id: idOf(run, 'scan', path), queue })
  return indexEntry.with({ root, ...toName(path) }, { id: idOf(run, 'index', path), queue })
}

interface ReportJob {
  readonly jobs: Client
  readonly payload: ReportPayload
  readonly queue: string
  readonly startedAt: Date
}

/** Waits for the others without an attempt of its own being counted, then reads what they found from the jobs themselves. */
async function report({ jobs, payload, queue, startedAt }: ReportJob): Promise<Summary> {
  if ((await jobs.count(unfinished(queue))) > 0) throw snooze('250ms')
  const { run, root, number, output } = payload
  const rootScan = await jobs.get(idOf(run, 'scan', ''))
  if (rootScan?.state !== 'completed') throw discard(`the folder could not be scanned: ${rootScan?.error?.message ?? 'its scan is gone'}`)

  const subject = { folder: root, excluded: EXCLUDED, run: { id: run, number, startedAt, finishedAt: new Date() } }
  const full = await buildReport(subject, eachJob(jobs, { queue, task: [scanFolder, indexEntry] }))
  await writeWhole(output, `${JSON.stringify(full, null, 2)}\n`)
  await forgetEarlierRuns(jobs, { root, number })
  return summarise(full, output)
}

/** Whoever reads the file sees the old report or the new one, never half of it. */
async function writeWhole(output: string, text: string): Promise<void> {
  const draft = join(dirname(output), STATE_FOLDER, `report-${process.pid}.json`)
  try {
    await writeFile(draft, text)
    await rename(draft, output)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
