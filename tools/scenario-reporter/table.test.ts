import { describe, expect, it } from 'vitest'
import { SCENARIOS } from './scenarios.ts'
import { closingLine, scenarioTable, type TestFact, tableDifference } from './table.ts'

const fact = (title: string, state: TestFact['state'] = 'passed', more: { store?: string; note?: string } = {}): TestFact => ({
  titles: ['claim.contract.ts', `store: ${more.store ?? 'memory'}`, 'claim', title],
  state,
  ...(more.note === undefined ? {} : { note: more.note }),
})

/** The cells of a row, in the order of the columns. */
const row = (facts: readonly TestFact[], tag: string): string[] => {
  const line = scenarioTable(facts)
    .text.split('\n')
    .find((candidate) => candidate.startsWith(`${tag} `))
  return (line ?? '').trim().split(/ {2,}/).slice(2)
}

describe('the scenario table', () => {
  it('has every scenario as a row, run or not', () => {
    const tags = scenarioTable([])
      .text.trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(' ')[0])
    expect(tags).toEqual(Object.keys(SCENARIOS))
    expect(tags).toHaveLength(6 + 10 + 12 + 11)
  })

  it('passes a cell when all its tests passed', () => {
    const facts = [fact('[Q1] one'), fact('[Q1] two'), fact('[Q1] one', 'passed', { store: 'sqlite' })]
    expect(row(facts, 'Q1')).toEqual(['pass', 'pass'])
    expect(row(facts, 'Q2')).toEqual(['not yet', 'not yet'])
  })

  it('fails a cell when one of its tests failed', () => {
    expect(row([fact('[Q1] one'), fact('[Q1] two', 'failed')], 'Q1')).toEqual(['FAIL', 'not yet'])
  })

  it('names the facet that a store does not have, from the note or the title', () => {
    expect(row([fact('[Q4] one'), fact('[Q4] two', 'skipped', { note: 'absent results' })], 'Q4')).toEqual(['absent results', 'not yet'])
    expect(row([fact('[Q4] two (absent results)', 'skipped')], 'Q4')).toEqual(['absent results', 'not yet'])
  })

  it('does not pass a scenario of which a part waits for a facet', () => {
    expect(row([fact('[Q3] pause')], 'Q3')).toEqual(['absent flows', 'not yet'])
    expect(row([fact('[Q3] pause', 'failed')], 'Q3')).toEqual(['FAIL', 'not yet'])
  })

  it('does not pass a cell with a test that was skipped for another reason', () => {
    expect(row([fact('[Q1] one'), fact('[Q1] two', 'skipped')], 'Q1')).toEqual(['not yet', 'not yet'])
  })

  it('counts a test for each of its tags, those of suites included, and tells W1 from W10', () => {
    const facts: TestFact[] = [{ titles: ['file', 'store: sqlite', '[W10] speed', 'fast [I3]'], state: 'passed' }]
    expect(row(facts, 'W10')).toEqual(['not yet', 'pass'])
    expect(row(facts, 'I3')).toEqual(['not yet', 'pass'])
    expect(row(facts, 'W1')).toEqual(['not yet', 'not yet'])
  })

  it('leaves out tests that belong to no store', () => {
    expect(row([{ titles: ['file', '[Q1] one'], state: 'passed' }], 'Q1')).toEqual(['not yet', 'not yet'])
  })

  it('adds a column for a store that it did not know', () => {
    const { text } = scenarioTable([fact('[Q1] one', 'passed', { store: 'postgres' })])
    expect(text.split('\n')[0]).toMatch(/memory +sqlite +postgres$/)
  })

  it('reports a tag that names no scenario', () => {
    expect(scenarioTable([fact('[Q9] one')]).problems).toEqual([expect.stringContaining('[Q9]')])
    expect(scenarioTable([fact('[Q1] one')]).problems).toEqual([])
  })
})

describe('the comparison', () => {
  const { text } = scenarioTable([])

  it('finds no difference in equal tables', () => {
    expect(tableDifference(text, text)).toEqual([])
  })

  it('does not mind the width of columns', () => {
    expect(tableDifference(text, text.replaceAll('  not yet', '      not yet'))).toEqual([])
  })

  it('finds a row that vanished, one that is new and a cell that changed', () => {
    const without = text.replace(/^Q1 .*\n/m, '')
    expect(tableDifference(text, without)).toEqual([expect.stringMatching(/^- Q1/), expect.stringContaining('lines expected')])
    expect(tableDifference(without, text)).toEqual([expect.stringMatching(/^\+ Q1/), expect.stringContaining('lines expected')])
    expect(tableDifference(text, text.replace(/^(Q1 .*)not yet/m, '$1pass'))).toEqual([
      expect.stringMatching(/^- Q1/),
      expect.stringMatching(/^\+ Q1/),
    ])
  })
})

it('the closing line leaves skipped tests out when there are none', () => {
  expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
  expect(closingLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
})
