import type { Job } from 'triphammer'
import type { InspectedFile, Inspection } from './inspect.ts'
import { createLatencies, type Percentiles } from './latencies.ts'
import type { EntryName } from './names.ts'

/** A file in the report. */
export type ReportedFile = EntryName & Omit<InspectedFile, 'kind'>

/** Something that is no regular file. */
export type ReportedSkip = EntryName & { readonly reason: string }

/** An entry that could not be read, or whose job was cancelled. */
export type ReportedFailure = EntryName & { readonly reason: string; readonly attempts: number }

/** Sums over all files of one language. */
export interface LanguageRow {
  readonly language: string
  readonly files: number
  readonly lines: number
  readonly bytes: number
}

/** Sums over everything. */
export interface Totals {
  readonly files: number
  readonly lines: number
  readonly bytes: number
  readonly binary: number
  readonly empty: number
  readonly skipped: number
  readonly failed: number
}

/** What differs from run to run, though the files be the same. */
export interface RunFacts {
  readonly id: string
  readonly number: number
  readonly startedAt: string
  readonly finishedAt: string
  readonly seconds: number
  /** Jobs that took more than one attempt. */
  readonly retriedJobs: number
  /** From the enqueue of a job to its finish, while the run lay still included. */
  readonly latencyMs?: Percentiles
}

/** `report.json`. All but `run` is the same for the same files. */
export interface Report {
  readonly folder: string
  /** Names that were passed over wherever they occurred. */
  readonly excluded: readonly string[]
  readonly totals: Totals
  /** Most bytes first. */
  readonly languages: readonly LanguageRow[]
  /** By path, as the two lists that follow. */
  readonly files: readonly ReportedFile[]
  readonly skipped: readonly ReportedSkip[]
  readonly failures: readonly ReportedFailure[]
  readonly run: RunFacts
}

/** What a report is about. */
export interface ReportSubject {
  readonly folder: string
  readonly excluded: readonly string[]
  readonly run: Pick<RunFacts, 'id' | 'number'> & { readonly startedAt: Date; readonly finishedAt: Date }
}

/** Builds the report from the scan and index jobs of a run, all of which have ended. */
export async function buildReport(subject: ReportSubject, jobs: AsyncIterable<Job> | Iterable<Job>): Promise<Report> {
  const files: ReportedFile[] = []
  const skipped: ReportedSkip[] = []
  const failures: ReportedFailure[] = []
  const latencies = createLatencies()
  let retriedJobs = 0
  for await (const job of jobs) {
    if (job.attempt > 1) retriedJobs++
    const name = nameOf(job)
    if (job.state !== 'completed') failures.push({ ...name, reason: failureOf(job), attempts: job.attempt })
    else if (isInspection(job.result)) {
      latencies.add((job.endedAt ?? job.createdAt).getTime() - job.createdAt.getTime())
      const { kind, ...found } = job.result
      if (kind === 'file') files.push({ ...name, ...(found as Omit<InspectedFile, 'kind'>) })
      else skipped.push({ ...name, reason: (found as { reason: string }).reason })
    }
  }
  for (const list of [files, skipped, failures]) list.sort(byPath)
  return {
    folder: subject.folder,
    excluded: subject.excluded,
    totals: totalsOf(files, skipped.length, failures.length),
    languages: languagesOf(files),
    files,
    skipped,
    failures,
    run: runFacts(subject, retriedJobs, latencies.percentiles()),
  }
}

/** What is kept as the result of the report job and printed by every copy: the report without its long lists. */
export interface Summary extends Omit<Report, 'files'> {
  readonly output: string
}

/** Entries of each list that the summary shows; the totals and report.json know of all. */
export const SHOWN = 10

/** The summary of a report that was written to `output`. */
export function summarise({ files: _, ...report }: Report, output: string): Summary {
  return { ...report, output, skipped: report.skipped.slice(0, SHOWN), failures: report.failures.slice(0, SHOWN) }
}

function isInspection(result: unknown): result is Inspection {
  return typeof result === 'object' && result !== null && 'kind' in result
}

function nameOf({ payload }: Job): EntryName {
  const { path, raw } = payload as EntryName
  return { path: path === '' ? '.' : path, ...(raw === undefined ? {} : { raw }) }
}

// Node's messages end in the call and the full path, which stands beside the reason anyway.
const CALL_AND_PATH = /, (\w+) '.*'$/s

function failureOf({ state, error }: Job): string {
  const message = error?.message.replace(CALL_AND_PATH, ' ($1)') ?? 'no reason given'
  return state === 'dead' ? message : `${state}: ${message}`
}

// By code units and not by a locale: the same on every machine. `raw` tells names apart that look the same.
function byPath(a: EntryName, b: EntryName): number {
  return compare(a.path, b.path) || compare(a.raw ?? '', b.raw ?? '')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function totalsOf(files: readonly ReportedFile[], skipped: number, failed: number): Totals {
  const totals = { files: files.length, lines: 0, bytes: 0, binary: 0, empty: 0, skipped, failed }
  for (const { lines, bytes, content } of files) {
    totals.lines += lines
    totals.bytes += bytes
    if (content !== 'text') totals[content]++
  }
  return totals
}

function languagesOf(files: readonly ReportedFile[]): readonly LanguageRow[] {
  const rows = new Map<string, { language: string; files: number; lines: number; bytes: number }>()
  for (const { language, lines, bytes } of files) {
    const row = rows.get(language) ?? { language, files: 0, lines: 0, bytes: 0 }
    rows.set(language, row)
    row.files++
    row.lines += lines
    row.bytes += bytes
  }
  return [...rows.values()].sort((a, b) => b.bytes - a.bytes || compare(a.language, b.language))
}

function runFacts({ run }: ReportSubject, retriedJobs: number, latencyMs: Percentiles | undefined): RunFacts {
  return {
    id: run.id,
    number: run.number,
    startedAt: run.startedAt.toISOString(),
    finishedAt: run.finishedAt.toISOString(),
    seconds: (run.finishedAt.getTime() - run.startedAt.getTime()) / 1_000,
    retriedJobs,
    ...(latencyMs === undefined ? {} : { latencyMs }),
  }
}
