import { execFileSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Installed, installPackage, packPackage, WITHOUT_NODE_SQLITE } from './installed.ts'

const SMOKE = fileURLToPath(new URL('../runtimes/smoke.mjs', import.meta.url))

let alone: Installed
let usual: Installed
let withDriver: Installed
beforeAll(() => {
  const tarball = packPackage()
  alone = installPackage(tarball, { dependencies: false })
  usual = installPackage(tarball)
  withDriver = installPackage(tarball, { peers: ['libsql'] })
  tarball.remove()
}, 300_000)
afterAll(() => {
  for (const { remove } of [alone, usual, withDriver]) remove()
})

/** The lines that the program of real jobs prints. */
function smoke({ folder }: Installed, parts: readonly string[], flags: readonly string[] = []): readonly string[] {
  cpSync(SMOKE, join(folder, 'smoke.mjs'))
  const printed = execFileSync(process.execPath, [...flags, 'smoke.mjs', ...parts], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  return printed.trimEnd().split('\n')
}

describe('the entries', () => {
  it('can be imported, each of them, with nothing else installed', () => {
    const names = alone.run(`
      const modules = await Promise.all(${JSON.stringify(alone.entries)}.map((entry) => import(entry)))
      console.log(modules.flatMap((module) => Object.keys(module)).join(' '))`)
    expect(names.split(/\s/)).toEqual(expect.arrayContaining(['createClient', 'defineTask', 'createWorker', 'handle', 'memory', 'sqlite']))
  })

  it('can be required by CommonJS, with the same exports', () => {
    const same = alone.run(`
      import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      for (const entry of ${JSON.stringify(alone.entries)}) {
        const names = Object.keys(await import(entry)).join()
        console.log(entry, names === Object.keys(require(entry)).filter((name) => name !== '__esModule').join())
      }`)
    expect(same).toBe(alone.entries.map((entry) => `${entry} true\n`).join(''))
  })
})

describe('without any driver for SQLite', () => {
  it('real jobs run in memory: main entry, worker, memory, test kit', () => {
    const parts = ['memory', ...(usual.entries.includes('triphammer/testing') ? ['testing'] : [])]
    expect(smoke(usual, parts, WITHOUT_NODE_SQLITE)).toEqual(parts.map((part) => `${part}: well`))
  })

  it('DRIVER_MISSING, at the first use of the default store and not before, with the way out', () => {
    const printed = usual.run(
      `import { createClient, defineTask } from 'triphammer'
       const jobs = createClient()
       console.log('made')
       await jobs.enqueue(defineTask('work'), {}).catch(({ code, message }) => console.log(code, message))`,
      WITHOUT_NODE_SQLITE,
    )
    expect(printed).toMatch(/^made\nDRIVER_MISSING .*npm install libsql, or use Node 22\.13 or newer/)
    expect(existsSync(join(usual.folder, '.triphammer/jobs.db'))).toBe(false)
  })

  it('DRIVER_MISSING of triphammer/sqlite, whichever driver was asked for', () => {
    const printed = usual.run(
      `import { sqlite } from 'triphammer/sqlite'
       for (const driver of ['node:sqlite', 'libsql', 'better-sqlite3']) {
         const store = sqlite('jobs.db', { driver })
         await store.admin.count({}).catch(({ code, message }) => console.log(code, message))
       }`,
      WITHOUT_NODE_SQLITE,
    )
    const lines = printed.trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^DRIVER_MISSING .*Node has it from 22\.13 on/),
      expect.stringMatching(/^DRIVER_MISSING .*npm install libsql$/),
      expect.stringMatching(/^DRIVER_MISSING .*npm install better-sqlite3$/),
    ])
  })
})

describe('with a driver for SQLite', () => {
  it('real jobs run in a file: with the SQLite of Node, or with libsql on a Node that has none', () => {
    expect(smoke(withDriver, ['sqlite'])).toEqual(['sqlite: well'])
  })

  it('libsql is found where it is installed', () => {
    const printed = withDriver.run(
      `import { createClient, defineTask } from 'triphammer'
       const jobs = createClient()
       await jobs.enqueue(defineTask('work'), {})
       console.log(await jobs.count())`,
      WITHOUT_NODE_SQLITE,
    )
    expect(printed).toBe('1\n')
  })
})

describe('the command', () => {
  const run = (...words: string[]): string => {
    const command = join(usual.folder, 'node_modules/.bin/triphammer')
    return execFileSync(process.execPath, [...WITHOUT_NODE_SQLITE, command, ...words], {
      cwd: usual.folder,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  }

  it('runs from where npm links it, without a driver', () => {
    expect(Object.keys(usual.manifest.bin)).toEqual(['triphammer'])
    expect(run('--version')).toBe(`${usual.manifest.version}\n`)
    expect(run('--help')).toContain('Usage: triphammer')
  })
})
