import Table from 'cli-table3'
import { printable } from './printable.ts'
import { cutTo, widthOf } from './width.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  /** Numbers go to the right. */
  readonly align?: 'left' | 'right'
  /** May be cut where the terminal is too narrow: down to `least` columns of it, and not below `fair` to make room for one that is `spare`. */
  readonly cut?: { readonly least: number; readonly fair: number }
  /** Is left out where there is no room for it. The last one goes first. */
  readonly spare?: boolean
  readonly of: (row: Row) => string | number | undefined
}

const NO_BORDERS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left', 'left-mid', 'mid', 'mid-mid']
    .concat(['right', 'right-mid'])
    .map((name) => [name, '']),
)
const GAP = '  '

/**
 * Rows as aligned columns under their titles; control characters are written out, so that data cannot steer a terminal.
 *
 * @param room columns of the terminal, into which the table is fitted; `undefined`: nothing is cut or left out
 */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], room?: number): string {
  const filled = columns.map((column) => fill(rows, column))
  const shown = room === undefined ? filled : fitInto(room, filled)
  // The last column is not padded: a single long value there would fill a line of each row.
  const last = shown.at(-1)?.align === 'right' ? undefined : shown.at(-1)
  const drawn = draw(last ? shown.slice(0, -1) : shown, rows.length)
  return drawn.map((line, row) => (last ? `${line}${last.cells[row]}` : line).trimEnd()).join('\n')
}

/** A column with what stands in it, the title first. */
interface Filled extends Pick<Column<never>, 'align' | 'cut' | 'spare'> {
  readonly cells: readonly string[]
}

function fill<Row>(rows: readonly Row[], { title, of, ...rest }: Column<Row>): Filled {
  return { ...rest, cells: [title.toUpperCase(), ...rows.map((row) => printable(String(of(row) ?? '')))] }
}

function fitInto(room: number, filled: readonly Filled[]): readonly Filled[] {
  // What is longer than the whole line is not measured to its end.
  const all = filled.map((column) => narrowed(column, column.cut ? Math.max(room, column.cut.least) : Number.POSITIVE_INFINITY))
  const columns = withoutSpare(room, all)
  const widths = sharedWidths(columns, total(columns.map(({ width }) => width)) - room)
  return columns.map((column, n) => (widths[n] === column.width ? column : narrowed(column, widths[n]!)))
}

// What is too much is taken from the widest columns, so that none is cut while another is far wider.
function sharedWidths(columns: readonly Measured[], excess: number): readonly number[] {
  const widths = columns.map(({ width }) => width)
  for (let left = excess; left > 0; left--) {
    const widest = columns.reduce((best, { cut }, n) => (cut && widths[n]! > cut.least && widths[n]! >= (widths[best] ?? 0) ? n : best), -1)
    if (widest < 0) break
    widths[widest]!--
  }
  return widths
}

interface Measured extends Filled {
  readonly width: number
}

function narrowed(column: Filled, most: number): Measured {
  const cells = column.cells.map((cell) => cutTo(cell, most))
  return { ...column, cells, width: Math.max(...cells.map(widthOf)) }
}

function withoutSpare(room: number, columns: readonly Measured[]): readonly Measured[] {
  const spare = columns.findLastIndex((column) => column.spare)
  const needed = total(columns.map(({ cut, width }) => (cut ? Math.min(width, cut.fair) : width)))
  return needed <= room || spare < 0 ? columns : withoutSpare(room, columns.toSpliced(spare, 1))
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length)
}

// One line for each row, the titles first.
function draw(columns: readonly Filled[], rows: number): readonly string[] {
  const lines = Array.from({ length: rows + 1 }, (_, row) => columns.map(({ cells }) => cells[row]!))
  if (columns.length === 0) return lines.map(() => '')
  const drawn = new Table({
    colAligns: columns.map(({ align = 'left' }) => align),
    chars: { ...NO_BORDERS, middle: '' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP.length },
  })
  drawn.push(...lines)
  return drawn.toString().split('\n')
}

/**
 * Names and values, one to a line; those without a value are left out.
 *
 * @param least the column of names is at least so wide: for lists that another process goes on with
 */
export function listing(entries: readonly (readonly [name: string, value: string | number | undefined])[], least = 0): string {
  const shown = entries.filter(([, value]) => value !== undefined)
  const width = Math.max(least, ...shown.map(([name]) => name.length))
  return shown
    .map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value), 'lines').replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`)
    .join('\n')
}
