import { readFileSync, writeFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule, TestSpecification, TestSuite, Vitest } from 'vitest/node'
import { closingLine, scenarioTable, type TestFact, tableDifference } from './table.ts'

/** How the reporter is set up; every field has a default that suits this repository. */
export interface ScenarioReporterOptions {
  /** The checked-in table. */
  readonly file: string
  /** What to do when the table differs: tell it, fail, or write the new one. */
  readonly difference: 'tell' | 'fail' | 'update'
  readonly print?: (line: string) => void
}

/**
 * Ends a run with the table scenario × store and, last of all, the closing line. A whole run is compared with the checked-in
 * table; a filtered one knows only a part of it and is not. What is wrong with the table counts as a failed test, so that
 * the closing line and the exit code agree.
 */
export function createScenarioReporter(options: ScenarioReporterOptions): Reporter {
  const print = options.print ?? ((line: string): void => console.log(line))
  let vitest: Vitest | undefined
  let whole = false

  const complaints = (text: string, problems: readonly string[]): readonly string[] => {
    if (!whole) return problems
    const difference = tableDifference(readOr(options.file, ''), text)
    if (options.difference === 'update' && !text.includes('FAIL')) {
      if (difference.length > 0) writeFileSync(options.file, text)
      return problems
    }
    if (difference.length === 0) return problems
    const note = `the table differs from ${options.file}; when that is meant: npm run scenarios:update`
    for (const line of [note, ...difference]) print(line)
    return options.difference === 'tell' ? problems : [...problems, note]
  }

  return {
    onInit(started) {
      vitest = started
    },
    async onTestRunStart(specifications: readonly TestSpecification[]) {
      const all = await vitest?.globTestSpecifications()
      whole = specifications.length === all?.length && vitest?.getGlobalTestNamePattern() === undefined
    },
    onTestRunEnd(modules: readonly TestModule[], unhandled) {
      const facts = modules.flatMap(factsOf)
      const { text, problems } = scenarioTable(facts)
      print(`\n${text}`)
      const wrong = complaints(text, problems)
      for (const problem of problems) print(problem)
      const count = (state: TestFact['state']): number => facts.filter((fact) => fact.state === state).length
      const failed = count('failed') + unhandled.length + wrong.length
      if (failed > 0) process.exitCode = 1
      print(closingLine({ passed: count('passed'), failed, skipped: count('skipped') }))
    },
  }
}

/**
 * The tests of a module. What failed outside a test, such as a hook or an import, stands as a failed test of its own, and
 * the tests that it kept from running have failed with it.
 */
function factsOf(module: TestModule): TestFact[] {
  const facts = [...module.children.allTests()].map(factOf)
  for (const suite of [module, ...module.children.allSuites()]) {
    if (suite.errors().length > 0) facts.push({ titles: titlesOf(suite), state: 'failed' })
  }
  return facts
}

function factOf(test: TestCase): TestFact {
  const result = test.result()
  const titles = titlesOf(test)
  if (result.state === 'passed' || result.state === 'failed') return { titles, state: result.state }
  const note = result.state === 'skipped' ? result.note : undefined
  if (test.options.mode === 'run' && note === undefined && insideFailure(test.parent)) return { titles, state: 'failed' }
  return { titles, state: 'skipped', ...(note === undefined ? {} : { note }) }
}

function insideFailure(suite: TestSuite | TestModule): boolean {
  return suite.errors().length > 0 || (suite.type === 'suite' && insideFailure(suite.parent))
}

function titlesOf(task: TestCase | TestSuite | TestModule): string[] {
  if (task.type === 'module') return [task.relativeModuleId]
  return [...titlesOf(task.parent), task.name]
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise
    throw error
  }
}
