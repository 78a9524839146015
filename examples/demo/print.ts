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

/** Columns from left to right, and the terminal width from which each is shown. */
const COLUMNS = [
  { title: 'Language', from: 0 },
  { title: 'Files', from: 0 },
  { title: 'Lines', from: 50 },
  { title: 'Size', from: 0 },
  { title: 'Share', from: 60 },
] as const

function languageTable({ languages, totals }: Summary, { width, paint }: PrintOptions): string {
  const shown = COLUMNS.map(({ from }) => width >= from)
  const titles = COLUMNS.map(({ title }) => title)
  const rows = [titles, ...languages.map((row) => cellsOf(row, totals.bytes)), cellsOf({ language: 'Total', ...totals }, totals.bytes)]
  const visible = rows.map((cells) => cells.filter((_, column) => shown[column]))
  // What the numbers need, with the borders; the names of languages get the rest.
  const needed = visible[0]!.slice(1).reduce((sum, _, i) => sum + 3 + Math.max(...visible.map((cells) => cells[i + 1]!.length)), 4)
  const [head, ...body] = visible.map(([language, ...cells]) => [cliTruncate(language!, Math.max(6, width - needed)), ...cells])
  const table = new Table({
    head: head!.map((title) => paint('bold', title)),
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    // Its own colours would ignore NO_COLOR.
    style: { head: [], border: [], compact: true },
  })
  table.push(
    ...body.slice(0, -1),
    body.at(-1)!.map((cell) => paint('bold', cell)),
  )
  return table.toString()
}

function cellsOf({ language, files, lines, bytes }: LanguageRow, allBytes: number): string[] {
  const share = allBytes === 0 ? '' : `${((bytes / allBytes) * 100).toFixed(1)}%`
  return [language, number(files), number(lines), size(bytes), share]
}

interface Entry {
  readonly path: string
  readonly reason: string
}

function listing(title: string, style: 'yellow' | 'red', entries: readonly Entry[], total: number, options: PrintOptions): string {
  if (total === 0) return ''
  const { width, paint } = options
  const lines = entries.map((entry) => {
    const [path, reason] = [printable(entry.path), printable(entry.reason)]
    // A long reason keeps half of the line, so that a long path does not push it out.
    const why = cliTruncate(reason, Math.max(Math.floor(width / 2), width - path.length - 4))
    const where = cliTruncate(path, Math.max(12, width - why.length - 4), { position: 'middle' })
    return cliTruncate(`  ${where}  ${paint('dim', why)}`, width)
  })
  const more = total - entries.length
  return [paint(style, title), ...lines, ...(more > 0 ? [paint('dim', `  and ${number(more)} more, all in report.json`)] : [])].join('\n')
}

function closing({ output, totals, run }: Summary, { paint }: PrintOptions): string {
  const entries = totals.files + totals.skipped + totals.failed
  const lines = [
    `Run ${run.number}: ${count(entries, 'entry', 'entries')} in ${time(run.seconds * 1_000)}, ${count(run.retriedJobs, 'job')} tried again`,
  ]
  if (run.latencyMs) {
    const { p50, p95, p99 } = run.latencyMs
    lines.push(`From enqueue to finish: p50 ${time(p50)}, p95 ${time(p95)}, p99 ${time(p99)}`)
  }
  return [...lines, `${paint('green', 'Report:')} ${printable(output)}`].join('\n')
}
