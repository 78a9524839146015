import { SCENARIOS, STORES, WAITING_FOR } from './scenarios.ts'

/** What the table needs to know of one test. */
export interface TestFact {
  /** Its title with those of all suites around it, outermost first. */
  readonly titles: readonly string[]
  readonly state: 'passed' | 'failed' | 'skipped'
  /** What `context.skip(note)` was given. */
  readonly note?: string
}

/** The scenarios, and what is wrong with the tags themselves. */
export interface ScenarioTable {
  readonly text: string
  /** Tags that name no scenario: a row would be missing without a word. */
  readonly problems: readonly string[]
}

const TAG = /\[([QWGI]\d+)\]/g
const STORE = /^store: (\S+)$/
const ABSENT = /\babsent ([a-z]+)\b/

/**
 * Makes the table scenario × store. A cell is `pass` when at least one of its tests ran and all of them passed, `FAIL` when
 * one failed, `absent <facet>` when one was skipped for a facet that the store does not have or a part of the scenario waits
 * for one that no store has, and `not yet` otherwise.
 * Tests outside a suite titled `store: <name>` do not count.
 */
export function scenarioTable(facts: readonly TestFact[]): ScenarioTable {
  const cells = new Map<string, TestFact[]>()
  const stores = new Set<string>(STORES)
  const problems: string[] = []
  for (const fact of facts) {
    const store = storeOf(fact)
    if (store === undefined) continue
    stores.add(store)
    for (const tag of tagsOf(fact)) {
      if (!Object.hasOwn(SCENARIOS, tag)) problems.push(`no scenario is called [${tag}]: ${fact.titles.join(' > ')}`)
      const key = `${tag} ${store}`
      cells.set(key, [...(cells.get(key) ?? []), fact])
    }
  }
  const header = ['', 'scenario', ...stores]
  const rows = Object.entries(SCENARIOS).map(([tag, name]) => [
    tag,
    name,
    ...[...stores].map((store) => cellOf(cells.get(`${tag} ${store}`) ?? [], WAITING_FOR[tag])),
  ])
  return { text: align([header, ...rows]), problems }
}

/**
 * The lines that two tables do not share, `-` for what was expected and `+` for what is; empty when they say the same. How
 * wide the columns are says nothing.
 */
export function tableDifference(expected: string, actual: string): readonly string[] {
  const before = contentOf(expected)
  const after = contentOf(actual)
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
    ...(before.length === after.length ? [] : [`  ${before.length} lines expected, ${after.length} found`]),
  ]
}

function contentOf(table: string): readonly string[] {
  return table
    .trim()
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, '  '))
}

/** The last line of a run. */
export function closingLine(counts: { readonly passed: number; readonly failed: number; readonly skipped: number }): string {
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`
}

function storeOf(fact: TestFact): string | undefined {
  for (const title of fact.titles) {
    const store = STORE.exec(title)?.[1]
    if (store !== undefined) return store
  }
  return undefined
}

function tagsOf(fact: TestFact): ReadonlySet<string> {
  return new Set(fact.titles.flatMap((title) => [...title.matchAll(TAG)].map(([, tag]) => tag ?? '')))
}

function cellOf(facts: readonly TestFact[], waitingFor: string | undefined): string {
  if (facts.some((fact) => fact.state === 'failed')) return 'FAIL'
  const skipped = facts.filter((fact) => fact.state === 'skipped')
  const facet = skipped.map((fact) => ABSENT.exec(fact.note ?? fact.titles.join(' '))?.[1]).find((name) => name !== undefined)
  if (facet !== undefined) return `absent ${facet}`
  if (facts.length === 0 || skipped.length > 0) return 'not yet'
  return waitingFor === undefined ? 'pass' : `absent ${waitingFor}`
}

function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
