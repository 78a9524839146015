import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES } from '../packages/triphammer/src/core/errors.ts'
import { SCENARIOS } from './scenario-reporter/scenarios.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const documents = [
  ...readdirSync(root).filter((file) => file.endsWith('.md') || file === 'llms.txt'),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
]

describe('the documents', () => {
  it('list every error code once, and no other', () => {
    const listed = [...read('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code)
    expect(listed.toSorted()).toEqual([...ERROR_CODES].sort())
  })

  it('number every invariant of the scenario table', () => {
    const numbered = [...read('docs/architecture.md').matchAll(/^(\d+)\. \*\*/gm)].map(([, number]) => `I${number}`)
    expect(numbered).toEqual(Object.keys(SCENARIOS).filter((tag) => tag.startsWith('I')))
  })

  it.each(documents)('%s links only to what exists', (document) => {
    const links = [...read(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '')
    const missing = links
      .filter((link) => !/^(https?:|#)/.test(link))
      .filter((link) => !existsSync(join(root, dirname(document), link.replace(/#.*$/, ''))))
    expect(missing).toEqual([])
  })

  it.each(['tasks.ts', 'app.ts', 'worker.ts', 'by-hand.ts'])('the README shows %s as it is type-checked', (file) => {
    expect(read('README.md')).toContain(read(join('packages/triphammer/test/types/readme', file)))
  })
})
