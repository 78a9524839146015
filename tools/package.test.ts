import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const home = fileURLToPath(new URL('../packages/triphammer', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'triphammer-package-'))
const installed = join(folder, 'node_modules/triphammer')
let files: readonly string[] = []

// What npm would publish, unpacked as an install would leave it.
beforeAll(() => {
  const packed = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], { cwd: home, encoding: 'utf8' })
  const [{ filename, files: listed }] = JSON.parse(packed) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ]
  files = listed.map(({ path }) => path)
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1'])
})
afterAll(() => rmSync(folder, { recursive: true }))

function run(code: string): unknown {
  writeFileSync(join(folder, 'program.mjs'), code)
  return JSON.parse(execFileSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' }))
}

describe('the package', () => {
  it('holds the build, the sources its maps lead to, README and LICENSE, and nothing else', () => {
    const built = files.filter((file) => file.startsWith('dist/'))
    const sources = new Set(files.filter((file) => file.startsWith('src/')))
    expect(built.length).toBe(sources.size * 4) // .js, .d.ts and a map of each; more: a source is gone, remove dist
    expect(built.filter((file) => !sources.has(file.replace(/^dist/, 'src').replace(/(\.d\.ts|\.js)(\.map)?$/, '.ts')))).toEqual([])
    const rest = files.filter((file) => !/^(dist|src)\//.test(file))
    expect(rest.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(readFileSync(join(installed, 'README.md'), 'utf8')).toContain('npm install triphammer')
  })

  it('leaves nothing behind in the checkout', () => {
    expect(['README.md', 'LICENSE'].filter((file) => existsSync(join(home, file)))).toEqual([])
  })

  it('can be imported by each of its entries, with no dependency at hand', () => {
    const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { readonly exports: Record<string, string> }
    const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'))
    const names = run(`
      const entries = ${JSON.stringify(entries)}
      const names = await Promise.all(entries.map(async (entry) => Object.keys(await import('triphammer' + entry.slice(1)))))
      console.log(JSON.stringify(names.flat()))`)
    expect(names).toEqual(expect.arrayContaining(['createClient', 'defineTask', 'createWorker', 'handle', 'memory', 'sqlite']))
  })

  it('loads no driver until a store opens', () => {
    // One that can be loaded and no more, for a Node without one of its own.
    mkdirSync(join(folder, 'node_modules/libsql'))
    writeFileSync(join(folder, 'node_modules/libsql/index.js'), 'module.exports = class {}')
    const drivers = run(`
      import { createRequire } from 'node:module'
      import { createClient } from 'triphammer'
      const loaded = () => [...process.moduleLoadList, ...Object.keys(createRequire(import.meta.url).cache)]
      const drivers = () => loaded().filter((name) => /node_modules.libsql|NativeModule sqlite/.test(name)).length
      const jobs = createClient({ logger: false })
      const before = drivers()
      await jobs.count().catch(() => {})
      console.log(JSON.stringify({ before, afterwards: drivers() }))`)
    expect(drivers).toEqual({ before: 0, afterwards: 1 })
  })
})
