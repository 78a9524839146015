import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkSource } from './rules.ts'

const src = fileURLToPath(new URL('../../../packages/triphammer/src/', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort()
const findings = files.flatMap((file) => checkSource(file.replaceAll(sep, '/'), readFileSync(join(src, file), 'utf8')))

for (const { file, line, problem } of findings) console.error(`packages/triphammer/src/${file}:${line} ${problem}`)
console.log(`source rules: ${files.length} files, ${findings.length} findings`)
if (findings.length > 0 || files.length === 0) process.exitCode = 1
