import Table from 'cli-table3'
import { printable } from './printable.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  /** Numbers go to the right. */
  readonly align?: 'left' | 'right'
  readonly of: (row: Row) => string | number | undefined
}

const NO_BORDERS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left', 'left-mid', 'mid', 'mid-mid']
    .concat(['right', 'right-mid'])
    .map((name) => [name, '']),
)

/** Rows as aligned columns under their titles; control characters are written out, so that data cannot steer a terminal. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const drawn = new Table({
    head: columns.map(({ title }) => title.toUpperCase()),
    colAligns: columns.map(({ align = 'left' }) => align),
    chars: { ...NO_BORDERS, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  for (const row of rows) drawn.push(columns.map(({ of }) => printable(String(of(row) ?? ''))))
  return drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** Names and values, one to a line; those without a value are left out. */
export function listing(entries: readonly (readonly [name: string, value: string | number | undefined])[]): string {
  const shown = entries.filter(([, value]) => value !== undefined)
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown
    .map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value), 'lines').replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`)
    .join('\n')
}
