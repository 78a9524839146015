import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type SqliteOptions, sqlite } from '../../src/sqlite.ts'
import { freshFile, storeOn } from './place.ts'

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

  it('opens nothing before the first call, and makes the folders then', async () => {
    const file = join(freshFile('a'), 'b', 'jobs.db')
    const store = storeOn(file)
    expect(existsSync(file)).toBe(false)
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 0 }])
    expect(existsSync(file)).toBe(true)
  })
})
