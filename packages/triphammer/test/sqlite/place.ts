import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import { createIds } from '../../src/core/ids.ts'
import type { SqliteDriverName } from '../../src/sql/sqlite-connection.ts'
import { SQLITE_DRIVERS } from '../../src/sql/sqlite-drivers.ts'
import { type SqliteOptions, sqlite } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'

const endings: (() => unknown)[] = []

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** Does something after the test, the last first. */
export function afterwards(end: () => unknown): void {
  endings.push(end)
}

/** A path in a folder of this test's own. */
export function freshFile(name = 'jobs.db'): string {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-'))
  afterwards(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, name)
}

/** A store that is closed after the test. */
export function storeOn(file: string, options: SqliteOptions = {}): Store {
  const store = sqlite(file, options)
  afterwards(() => store.close())
  return store
}

/** What the three drivers have in common, as a user's code sees it. */
export interface UserDb {
  exec(sql: string): unknown
  prepare(sql: string): { all(...parameters: unknown[]): Record<string, unknown>[]; run(...parameters: unknown[]): unknown }
  close(): unknown
}
type UserDbClass = new (file: string) => UserDb

const require = createRequire(import.meta.url)

function loadForUser(driver: SqliteDriverName): UserDbClass | undefined {
  try {
    if (driver !== 'node:sqlite') return require(driver) as UserDbClass
    return (process.getBuiltinModule('node:sqlite') as unknown as { DatabaseSync: UserDbClass } | undefined)?.DatabaseSync
  } catch {
    return undefined
  }
}

/** The drivers that this machine has. */
export const AVAILABLE: readonly SqliteDriverName[] = SQLITE_DRIVERS.filter((driver) => loadForUser(driver) !== undefined)

/** A connection as a user opens it, closed after the test. By default of the driver that the store itself would take. */
export function userDb(file: string, driver: SqliteDriverName = AVAILABLE[0]!): UserDb {
  const db = new (loadForUser(driver)!)(file)
  afterwards(() => {
    try {
      db.close()
    } catch {
      // The test has closed it.
    }
  })
  return db
}

/** Ids for jobs of tests. */
export const ids = createIds()

/** The built package, which child processes import. */
export const DIST: string = fileURLToPath(new URL('../../dist/', import.meta.url))

/** A process of its own. */
export interface Child {
  /** Resolves when the process has written this line. */
  line(text: string): Promise<void>
  send(text: string): void
  /** Resolves with all it wrote, when it has ended well; rejects otherwise. */
  readonly ended: Promise<string>
}

/**
 * Runs a module in a process of its own: `sqlite` and `createIds` of the built package are in scope, and `args`.
 *
 * @param identity the user to run as
 */
export function runChild(
  script: string,
  args: readonly string[],
  options: { readonly dist?: string; readonly identity?: { readonly uid: number; readonly gid: number } } = {},
): Child {
  const { dist = DIST, identity = {} } = options
  const source = `
    import { sqlite } from ${JSON.stringify(`${dist}sqlite.js`)}
    import { createIds } from ${JSON.stringify(`${dist}core/ids.js`)}
    const args = process.argv.slice(1)
    ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source, ...args], { stdio: ['pipe', 'pipe', 'pipe'], ...identity })
  let out = ''
  let err = ''
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    for (const listener of listeners) listener()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  let isOver = false
  const ended = new Promise<string>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      isOver = true
      if (code === 0) resolve(out)
      else reject(new Error(`the child ended with ${code ?? signal}: ${err}`))
    })
  })
  ended.catch(() => {}) // whoever awaits it sees it
  afterwards(() => {
    if (!isOver) child.kill('SIGKILL')
    return ended.catch(() => {})
  })
  return {
    ended,
    send: (text) => void child.stdin.write(text),
    line: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!out.split('\n').includes(text)) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        ended.then(() => reject(new Error(`the child ended without "${text}": ${out}`)), reject)
        look()
      }),
  }
}
