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

const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
const { name, bin, peerDependencies } = JSON.parse(read('packages/triphammer/package.json')) as {
  readonly name: string
  readonly bin: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}
const programs = ['examples', 'packages/triphammer/test/types/readme'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /[.]ts$/.test(file) && !/node_modules|^dist/.test(file))
    .map((file) => read(join(folder, file))),
)

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
    expect(links.filter((link) => !/^https?:/.test(link)).filter((link) => !leadsSomewhere(document, link))).toEqual([])
  })

  // A plan may name what is not there yet.
  it.each(documents.filter((document) => document !== 'docs/plan.md'))('%s names only npm scripts that exist', (document) => {
    const named = [...read(document).matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => script!)
    expect(named.filter((script) => !(script in scripts))).toEqual([])
  })

  it.each(['tasks.ts', 'app.ts', 'worker.ts', 'by-hand.ts'])('the README shows %s as it is type-checked', (file) => {
    expect(read('README.md')).toContain(read(join('packages/triphammer/test/types/readme', file)))
  })
})

/** What people copy from: every line of it has to work. */
const shown = documents.filter((document) => /^(README[.]md|CONTRIBUTING[.]md|llms[.]txt)$|^docs.guides/.test(document))

describe.each(shown)('what %s shows', (document) => {
  it('as TypeScript is in a file that is run or type-checked', () => {
    // A first line may say what a reader would call the file.
    const blocks = blocksOf(document, 'ts').map((block) => block.replace(/^\/\/ \S+[.]m?ts\n/, ''))
    expect(blocks.filter((block) => !programs.some((program) => program.includes(block)))).toEqual([])
  })

  it('as commands can be typed', () => {
    const lines = blocksOf(document, 'sh').flatMap((block) => block.split('\n').map((line) => line.replace(/\s*#.*$/, '').trim()))
    const commands = lines.flatMap((line) => (line === '' ? [] : line.split(' && ')))
    expect(commands.filter((command) => !isCommand(command))).toEqual([])
  })
})

function blocksOf(document: string, language: string): string[] {
  return [...read(document).matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, found]) => found === language).map(([, , block]) => block!)
}

/** Commands of npm itself, its scripts, installs of what there is, and our own program. */
function isCommand(command: string): boolean {
  const [program, verb = '', ...words] = command.split(/\s+/)
  if (program === 'npx') return verb in bin
  if (program !== 'npm') return false
  if (verb === 'run') return words[0]! in scripts
  if (verb === 'install') return words.every((word) => word === name || word in peerDependencies)
  return verb === 'ci' || (verb === 'test' && 'test' in scripts) || command === `npm pack -w ${name}`
}

function leadsSomewhere(document: string, link: string): boolean {
  const [path, anchor] = link.split('#')
  const file = path ? join(dirname(document), path) : document
  if (!existsSync(join(root, file))) return false
  return anchor === undefined || !file.endsWith('.md') || anchorsOf(file).includes(anchor)
}

/** The anchors that a git host makes of headings. */
function anchorsOf(document: string): readonly string[] {
  const seen = new Map<string, number>()
  return [...read(document).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
    const slug = heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    const before = seen.get(slug) ?? 0
    seen.set(slug, before + 1)
    return before === 0 ? slug : `${slug}-${before}`
  })
}
