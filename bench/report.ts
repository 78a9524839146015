import type { Case, Findings, Table } from './case.ts'
import type { Conditions } from './conditions.ts'
import { show } from './figures.ts'

/** Everything that a run has found. */
export interface Report {
  readonly conditions: Conditions
  /** The load of the machine before the first case and after the last. */
  readonly load: { readonly before: number; readonly after: number }
  /** The sizes were those of a smoke run: the figures mean nothing. */
  readonly quick: boolean
  readonly cases: readonly { readonly case: Case; readonly findings: Findings }[]
}

/** For programs: every round as it was measured. */
export function asJson({ cases, ...rest }: Report): string {
  const raw = Object.fromEntries(cases.map(({ case: { name }, findings }) => [name, findings.raw]))
  return JSON.stringify({ ...rest, cases: raw }, undefined, 2)
}

/** For docs/performance.md: a section with its tables. */
export function asMarkdown(report: Report): string {
  const { node, driver } = report.conditions
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const tables = tablesOf(report).map(({ table: { title, head }, rows, notes }) =>
    [`#### ${title}`, '', row(head), row(head.map(() => '---')), ...rows.map(row), ...notes.flatMap((note) => ['', note])].join('\n'),
  )
  return [`### ${driver}, Node ${node.slice(1)}`, conditionsOf(report), ...tables].join('\n\n')
}

/** For people: aligned columns. */
export function asText(report: Report): string {
  const tables = tablesOf(report).map(({ table: { title, head }, rows, notes }) => {
    const widths = head.map((_, column) => Math.max(...[head, ...rows].map((cells) => cells[column]!.length)))
    const line = (cells: readonly string[]): string =>
      cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
    return [title, line(head).replace(/./g, '─'), line(head), ...rows.map(line), ...notes].join('\n')
  })
  return [conditionsOf(report), ...tables].join('\n\n')
}

interface FilledTable {
  readonly table: Table
  readonly rows: readonly (readonly string[])[]
  readonly notes: readonly string[]
}

function tablesOf({ cases }: Report): readonly FilledTable[] {
  return [...new Set(cases.map((one) => one.case.table))].map((table) => {
    const findings = cases.filter((one) => one.case.table === table).map((one) => one.findings)
    return { table, rows: findings.flatMap(({ rows }) => rows), notes: findings.flatMap(({ notes = [] }) => notes) }
  })
}

function conditionsOf({ conditions, load, quick }: Report): string {
  const { takenAt, node, driver, sqlite, cores, cpu, memoryBytes, system, fileSystem, journal, synchronous } = conditions
  const parts = [
    `${takenAt.slice(0, 10)}: Node ${node.slice(1)}, ${driver} (SQLite ${sqlite}), ${system}`,
    `${cores} cores (${cpu}), ${show(memoryBytes / 1e9)} GB`,
    `${fileSystem}, journal_mode = ${journal}, synchronous = ${synchronous}`,
    `load ${show(load.before, 1)} at the start and ${show(load.after, 1)} at the end`,
  ]
  return `${quick ? 'A smoke run: these figures mean nothing. ' : ''}${parts.join('; ')}.`
}
