import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateReference } from './generate.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const home = join(root, 'docs/reference')
const isCheck = process.argv.includes('--check')

/** The files of a folder and what is in them. */
function filesOf(folder: string): ReadonlyMap<string, string> {
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}

function differences(kept: ReadonlyMap<string, string>, made: ReadonlyMap<string, string>): readonly string[] {
  const names = [...new Set([...kept.keys(), ...made.keys()])].sort()
  return names.filter((name) => kept.get(name) !== made.get(name))
}

const out = isCheck ? mkdtempSync(join(tmpdir(), 'triphammer-reference-')) : home
try {
  if (!(await generateReference(root, out))) process.exitCode = 1
  if (isCheck) {
    const differ = differences(filesOf(home), filesOf(out))
    for (const file of differ) console.error(`docs/reference/${file} is not what the source says; run npm run reference`)
    if (differ.length > 0) process.exitCode = 1
  }
} finally {
  if (isCheck) rmSync(out, { recursive: true })
}
