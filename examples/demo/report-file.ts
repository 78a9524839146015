import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Report } from './report.ts'

/**
 * Writes a report: first to `draft`, which must be on the same file system, then under its name. Whoever reads the file sees
 * the old report or the new one, never half of it.
 */
export async function writeReportFile(report: Report, output: string, draft: string): Promise<void> {
  try {
    await pipeline(Readable.from(reportText(report)), createWriteStream(draft))
    await rename(draft, output)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/**
 * The JSON of a report, an entry of its lists on each line. In pieces: as one text, the report of a million files would hold
 * up everything else in this process for seconds, the extending of leases included.
 */
export function* reportText(report: Report): Generator<string> {
  let separator = '{\n'
  for (const [key, value] of Object.entries(report)) {
    yield `${separator}  ${JSON.stringify(key)}: `
    if (Array.isArray(value)) yield* listText(value)
    else yield JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
    separator = ',\n'
  }
  yield '\n}\n'
}

function* listText(list: readonly unknown[]): Generator<string> {
  let separator = '[\n'
  for (const item of list) {
    yield `${separator}    ${JSON.stringify(item)}`
    separator = ',\n'
  }
  yield list.length === 0 ? '[]' : '\n  ]'
}
