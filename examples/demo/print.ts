import Table from 'cli-table3'
import cliTruncate from 'cli-truncate'
import { printable } from './names.ts'
import type { LanguageRow, Summary } from './report.ts'
import { count, number, type Paint, size, time } from './text.ts'

/** How the summary is to look. */
export interface PrintOptions {
  /** Columns of the terminal. */
  readonly width: number
  readonly paint: Paint
}

/** The end of a run, as text: a table by language, what was skipped and what failed, and where the report is. */
export function printSummary(summary: Summary, options: PrintOptions): string {
  const { totals } = summary
  const failures = summary.failures.map(({ path, reason, attempts }) => ({ path, reason: `${reason}, ${count(attempts, 'attempt')}` }))
  const sections = [
    languageTable(summary, options),
    listing(`${count(totals.skipped, 'entry', 'entries')} skipped`, 'yellow', summary.skipped, totals.skipped, options),
    listing(`${count(totals.failed, 'entry', 'entries')} could not be read`, 'red', failures, totals.failed, options),
    closing(summary, options),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

const NARROW = 60

function languageTable({ languages, totals }: Summary, { width, paint }: PrintOptions): string {
  const table = new Table({
    head: ['Language', 'Files', 'Lines', 'Size', ...(width < NARROW ? [] : ['Share'])].map((title) => paint('bold', title)),
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    chars: NO_INNER_LINES,
    // Its own colours would ignore NO_COLOR.
    style: { head: [], border: [], compact: true },
  })
  const row = ({ language, files, lines, bytes }: LanguageRow): string[] => {
    const share = totals.bytes === 0 ? '' : `${((bytes / totals.bytes) * 100).toFixed(1)}%`
    const cells = [cliTruncate(language, Math.max(8, width - 40)), number(files), number(lines), size(bytes)]
    return width < NARROW ? cells : [...cells, share]
  }
  table.push(
    ...languages.map(row),
    row({ language: 'Total', ...totals }).map((cell) => paint('bold', cell)),
  )
  return table.toString()
}

const NO_INNER_LINES = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' }

interface Entry {
  readonly path: string
  readonly reason: string
}

function listing(title: string, style: 'yellow' | 'red', entries: readonly Entry[], total: number, options: PrintOptions): string {
  if (total === 0) return ''
  const { width, paint } = options
  const lines = entries.map(({ path, reason }) => {
    // The reason goes first to its own half, so that a long path does not push it off the line.
    const why = cliTruncate(printable(reason), Math.max(12, Math.floor(width / 2)))
    const room = Math.max(12, width - [...why].length - 6)
    return `  ${cliTruncate(printable(path), room, { position: 'middle' })}  ${paint('dim', why)}`
  })
  const more = total - entries.length
  return [paint(style, title), ...lines, ...(more > 0 ? [paint('dim', `  and ${number(more)} more, all in report.json`)] : [])].join('\n')
}

function closing({ output, totals, run }: Summary, { paint }: PrintOptions): string {
  const entries = totals.files + totals.skipped + totals.failed
  const latency = run.latencyMs
    ? `; a job took ${time(run.latencyMs.p50)} (p50), ${time(run.latencyMs.p95)} (p95), ${time(run.latencyMs.p99)} (p99) from enqueue to finish`
    : ''
  return [
    `Run ${run.number}: ${count(entries, 'entry', 'entries')} in ${time(run.seconds * 1_000)}, ${count(run.retriedJobs, 'job')} tried again${latency}.`,
    `${paint('green', 'Report:')} ${printable(output)}`,
  ].join('\n')
}
