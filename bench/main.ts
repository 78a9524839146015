// What the library costs, beside the least that a queue in SQLite has to do. docs/performance.md says what is measured and how.
//
//   npm run bench -- --help

import { parseArgs } from 'node:util'
import type { Findings } from './case.ts'
import { CASES } from './cases.ts'
import { load, readConditions } from './conditions.ts'
import { asJson, asMarkdown, asText, type Report } from './report.ts'
import { FULL, QUICK } from './sizes.ts'

const HELP = `npm run bench -- [options]

  --only <case>  measure this case alone; may be repeated
  --quick        a smoke run with small numbers, whose figures mean nothing
  --json         print all rounds as they were measured
  --markdown     print the section for docs/performance.md
  --help         print this

Cases: ${CASES.map(({ name }) => name).join(', ')}.
The databases are in the folder of temporary files: set TMPDIR for another disk.`

async function run(quick: boolean, only: readonly string[]): Promise<Report> {
  const unknown = only.find((name) => !CASES.some((one) => one.name === name))
  if (unknown !== undefined) throw new Error(`there is no case ${unknown}; there are ${CASES.map(({ name }) => name).join(', ')}`)
  const conditions = await readConditions()
  const before = load()
  const cases: { case: (typeof CASES)[number]; findings: Findings }[] = []
  for (const one of CASES) {
    if (only.length > 0 && !only.includes(one.name)) continue
    cases.push({ case: one, findings: await one.run(quick ? QUICK : FULL) })
  }
  return { conditions, load: { before, after: load() }, quick, cases }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  if (values.json && values.markdown) throw new Error('give --json or --markdown, not both')
  const report = await run(values.quick, values.only)
  console.log(values.json ? asJson(report) : values.markdown ? asMarkdown(report) : asText(report))
}

// Stopped half way it removes its files: process.exit runs what listens for the exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
try {
  await main()
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
