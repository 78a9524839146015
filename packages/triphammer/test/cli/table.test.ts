import Table from 'cli-table3'
import { describe, expect, it } from 'vitest'
import { hostileNames, SEED } from '../../conformance/hostile.ts'
import { printable } from '../../src/cli/printable.ts'
import { type Column, listing, table } from '../../src/cli/table.ts'
import { cutTo, widthOf } from '../../src/cli/width.ts'

type Row = readonly [id: string, name: string, count: number, note: string]

const COLUMNS: readonly Column<Row>[] = [
  { title: 'id', of: ([id]) => id },
  { title: 'name', cut: { least: 4, fair: 8 }, of: ([, name]) => name },
  { title: 'n', align: 'right', spare: true, of: ([, , count]) => count },
  { title: 'note', cut: { least: 6, fair: 6 }, spare: true, of: ([, , , note]) => note },
]
const ROWS: readonly Row[] = [
  ['a1', 'short', 7, 'of no importance'],
  ['b22', 'a longer name', 1234, ''],
]

describe('a table', () => {
  it('without a terminal shows all there is, aligned, and nothing behind the last value', () => {
    expect(table(ROWS, COLUMNS).split('\n')).toEqual([
      'ID   NAME              N  NOTE',
      'a1   short             7  of no importance',
      'b22  a longer name  1234',
    ])
    expect(table(ROWS, COLUMNS.slice(0, 3)).split('\n')).toEqual([
      'ID   NAME              N',
      'a1   short             7',
      'b22  a longer name  1234',
    ])
    expect(table(ROWS, COLUMNS, 200)).toBe(table(ROWS, COLUMNS))
  })

  it('is cut where it is widest if the terminal is narrow, and loses what is spare before a name is cut beyond what is fair', () => {
    expect(table(ROWS, COLUMNS, 34).split('\n')).toEqual([
      'ID   NAME            N  NOTE',
      'a1   short           7  of no imp…',
      'b22  a longer n…  1234',
    ])
    expect(table(ROWS, COLUMNS, 30).split('\n')).toEqual([
      'ID   NAME          N  NOTE',
      'a1   short         7  of no i…',
      'b22  a longer…  1234',
    ])
    expect(table(ROWS, COLUMNS, 22).split('\n')).toEqual(['ID   NAME            N', 'a1   short           7', 'b22  a longer n…  1234'])
    expect(table(ROWS, COLUMNS, 14).split('\n')).toEqual(['ID   NAME', 'a1   short', 'b22  a longer…'])
    expect(table(ROWS, COLUMNS, 3).split('\n')).toEqual(['ID   NAME', 'a1   sho…', 'b22  a l…'])
  })

  it('does not repeat one long value in the lines of the others', () => {
    const long = 'x'.repeat(1_000_000)
    expect(table([['a', 'b', 1, long], ...Array.from({ length: 1_000 }, (): Row => ['a', 'b', 1, 'y'])], COLUMNS).length).toBeLessThan(
      1_100_000,
    )
  })
})

describe('the width of text', () => {
  it('is at least what the table measures, of anything that is printed', () => {
    for (const name of hostileNames(2_000, SEED)) {
      const shown = printable(name)
      const drawn = new Table({ style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 } })
      drawn.push([shown])
      const measured = drawn.toString().split('\n')[0]!.length - 2
      expect([shown, widthOf(shown)]).toEqual([shown, expect.toSatisfy((width: number) => width >= measured)])
    }
  })

  it('is what a cut keeps to, without halving a character', () => {
    for (const name of hostileNames(500, SEED)) {
      const shown = printable(name)
      for (const columns of [1, 2, 3, 10, 40]) {
        const cut = cutTo(shown, columns)
        expect(widthOf(cut)).toBeLessThanOrEqual(columns)
        expect(cut.isWellFormed()).toBe(true)
        if (cut !== shown) expect(shown.startsWith(cut.slice(0, -1)) && cut.endsWith('…')).toBe(true)
        else expect(widthOf(shown)).toBeLessThanOrEqual(columns)
      }
    }
    expect(cutTo('日本語', 5)).toBe('日本…')
    expect(cutTo('日本語', 6)).toBe('日本語')
    expect(cutTo('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…')
  })
})

describe('a listing', () => {
  it('has its values in one column, also where several processes print a part of it', () => {
    const parts = [
      listing([
        ['store', 'sqlite'],
        ['processes', 2],
      ]),
      listing(
        [
          ['tasks', 'a\nb'],
          ['queues', undefined],
        ],
        'processes'.length,
      ),
    ]
    expect(parts.join('\n').split('\n')).toEqual(['store      sqlite', 'processes  2', 'tasks      a', '           b'])
  })
})
