import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { refused } from '../../conformance/client.ts'
import { withoutSecrets } from '../../src/cli/secrets.ts'
import { openStore, parseStoreUrl } from '../../src/cli/store-url.ts'
import { triphammer } from './command.ts'

describe('the URL of a store', () => {
  it.each([
    ['jobs.db', 'jobs.db', {}],
    ['./a b?c%20.db', './a b?c%20.db', {}],
    ['C:\\jobs.db', 'C:\\jobs.db', {}],
    ['sqlite:jobs.db', 'jobs.db', {}],
    ['sqlite:///var/jobs.db', '/var/jobs.db', {}],
    ['SQLITE:a%20b%3F.db', 'a b?.db', {}],
    ['sqlite:a.db?synchronous=normal&driver=libsql&walLimitBytes=5', 'a.db', { synchronous: 'normal', driver: 'libsql', walLimitBytes: 5 }],
  ])('%s', (url, path, options) => {
    expect(parseStoreUrl(url)).toEqual({ path, options })
  })

  it('is refused where it names no file, or what this version does not know, and no secret is told', async () => {
    await refused(() => parseStoreUrl(''), 'INVALID_OPTION', /not the path of a file/)
    await refused(() => parseStoreUrl('sqlite::memory:'), 'INVALID_OPTION', /one process/)
    await refused(() => parseStoreUrl('sqlite:%zz'), 'INVALID_OPTION', /begins no code/)
    await refused(() => parseStoreUrl('sqlite:a.db?mode=ro'), 'UNKNOWN_OPTION', /"mode"; known are synchronous/)
    await refused(() => parseStoreUrl('postgres://ada:hunter2@db/x'), 'INVALID_OPTION', /^store: postgres: is no store[^@]*$/)
    for (const argv of [['--stoer=postgres://ada:hunter2@db/x'], ['--store=sqlite:a.db?token=hunter2'], ['postgres://ada:hunter2@db']]) {
      const told = await triphammer(['queues', 'list', ...argv])
      expect(told.code).toBe(2)
      expect(told.out + told.err).not.toContain('hunter2')
    }
  })

  it('leaves a database that is only looked at as it is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triphammer-cli-'))
    try {
      await refused(() => openStore({ store: 'a.db', folder }, 'look'), 'SCHEMA_MISSING', /triphammer migrate/)
      expect(existsSync(join(folder, 'a.db'))).toBe(false)
      expect(await triphammer(['queues', 'pause', 'q'], { cwd: folder })).toMatchObject({ code: 0 })
      expect(existsSync(join(folder, '.triphammer/jobs.db'))).toBe(true)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('text without secrets', () => {
  it.each([
    ['postgres://ada:hunter2@db/x', 'postgres://ada:***@db/x'],
    ['mysql://ada:hu:n@ter2@db/x and more', 'mysql://ada:***@db/x and more'],
    ['libsql://x?authToken=hunter2&a=1', 'libsql://x?authToken=***&a=1'],
    ['https://example.org/a:b@c', 'https://example.org/a:b@c'],
    ['nothing: of the kind', 'nothing: of the kind'],
  ])('%s', (text, shown) => {
    expect(withoutSecrets(text)).toBe(shown)
  })
})
