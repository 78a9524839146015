import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type SqliteOptions, sqlite } from '../../src/sqlite.ts'
import { freshFile, storeOn, type userDb } from './place.ts'

describe('sqlite(file, options)', () => {
  it.each([
    ['UNKNOWN_OPTION', { synchronos: 'full' }],
    ['INVALID_OPTION', { synchronous: 'off' }],
    ['INVALID_OPTION', { migrate: 'yes' }],
    ['INVALID_OPTION', { driver: 'sqlite3' }],
    ['INVALID_OPTION', { walLimitBytes: 0 }],
    ['INVALID_OPTION', { walLimitBytes: 1.5 }],
  ])('%s: %j', (code, options) => {
    expect(() => sqlite('jobs.db', options as SqliteOptions)).toThrow(expect.objectContaining({ code }))
  })

  it.each([undefined, null, 42, '', 'file:jobs.db', 'jobs\u0000.db'])('INVALID_OPTION: the file %j', (file) => {
    expect(() => sqlite(file as string)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  // SQLite's own numbers: 2 is full, 1 is normal.
  it.each<readonly [SqliteOptions, number]>([
    [{}, 2],
    [{ synchronous: 'full' }, 2],
    [{ synchronous: 'normal' }, 1],
  ])('%j: what was acknowledged is flushed as that says (%d), into a write-ahead log', async (options, expected) => {
    const store = storeOn(freshFile(), options)
    await store.transaction(async (tx) => {
      const db = tx.db as ReturnType<typeof userDb>
      expect(db.prepare('pragma synchronous').all()).toMatchObject([{ synchronous: expected }])
      expect(db.prepare('pragma journal_mode').all()).toMatchObject([{ journal_mode: 'wal' }])
    })
  })

  it('opens nothing before the first call, and makes the folders then', async () => {
    const file = join(freshFile('a'), 'b', 'jobs.db')
    const store = storeOn(file)
    expect(existsSync(file)).toBe(false)
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 0 }])
    expect(existsSync(file)).toBe(true)
  })
})
