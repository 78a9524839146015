import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const guides = readdirSync(join(root, 'docs/guides')).map((file) => file.replace(/[.]md$/, ''))

function blocksOf(guide: string, language: string): string[] {
  const text = readFileSync(join(root, 'docs/guides', `${guide}.md`), 'utf8')
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, found]) => found === language).map(([, , block]) => block!)
}

// What a guide may show: its example, and the files of a folder of its name, if there is one.
function sourcesOf(guide: string): string[] {
  const folder = join(root, 'examples', guide)
  const more = existsSync(folder) ? readdirSync(folder).map((file) => join(folder, file)) : []
  return [join(root, 'examples/guides', `${guide}.ts`), ...more].map((file) => readFileSync(file, 'utf8'))
}

async function outputOf(guide: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-guide-'))
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(root, 'examples/dist/guides', `${guide}.js`)], {
      cwd: folder,
    })
    return stdout + stderr
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe.each(guides)('the guide %s', (guide) => {
  it('shows what its example says', () => {
    const sources = sourcesOf(guide)
    const shown = blocksOf(guide, 'ts')
    expect(shown.length).toBeGreaterThan(0)
    for (const block of shown) {
      expect(
        sources.some((source) => source.includes(block)),
        block,
      ).toBe(true)
    }
  })

  it('tells what its example prints', async () => {
    const printed = await outputOf(guide)
    expect(blocksOf(guide, 'text')).toEqual([printed])
  })
})

it('each example has its guide', () => {
  const examples = readdirSync(join(root, 'examples/guides')).filter((file) => !file.endsWith('.test.ts'))
  expect(examples.map((file) => file.replace(/[.]ts$/, '')).sort()).toEqual(guides.toSorted())
})
