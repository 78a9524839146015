import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newJob } from '../../conformance/builders.ts'
import { afterwards, DIST, freshFile, ids, runChild, storeOn, userDb } from './place.ts'

describe('opening', () => {
  it('NOT_A_DATABASE: a file of another kind, which stays as it is', async () => {
    const file = freshFile('letter.txt')
    const content = 'Dear Sir or Madam, '.repeat(100)
    writeFileSync(file, content)
    await expect(storeOn(file).admin.count({})).rejects.toMatchObject({ code: 'NOT_A_DATABASE', cause: expect.anything() })
    expect(readFileSync(file, 'utf8')).toBe(content)
  })

  it('STORE_UNAVAILABLE: a folder in place of the file', async () => {
    const file = freshFile()
    mkdirSync(file)
    await expect(storeOn(file).admin.count({})).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining(file) })
  })

  it('STORE_UNAVAILABLE: a file in place of a folder', async () => {
    const file = freshFile('file')
    writeFileSync(file, '')
    await expect(storeOn(join(file, 'jobs.db')).admin.count({})).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it('is tried again by the next call', async () => {
    const file = freshFile()
    writeFileSync(file, 'not a database, to begin with, and long enough to be read as one '.repeat(20))
    const store = storeOn(file)
    await expect(store.admin.count({})).rejects.toMatchObject({ code: 'NOT_A_DATABASE' })
    writeFileSync(file, '')
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 0 }])
  })

  it('STORE_UNAVAILABLE: a file that cannot be written', async () => {
    const file = freshFile()
    await storeOn(file).close()
    const db = userDb(file)
    db.exec('create table users (id integer)')
    db.close()
    chmodSync(file, 0o444)
    chmodSync(dirname(file), 0o555)
    afterwards(() => chmodSync(dirname(file), 0o755))
    // Root may write anything, so nobody is asked.
    const isRoot = process.getuid?.() === 0
    if (isRoot) chownSync(dirname(file), 65_534, 65_534)
    const child = runChild(
      `const error = await sqlite(args[0]).admin.count({}).catch((error) => error)
       console.log(error.code)`,
      [file],
      isRoot ? { identity: { uid: 65_534, gid: 65_534 } } : {},
    )
    expect(await child.ended).toBe('STORE_UNAVAILABLE\n')
  })

  it('STORE_UNAVAILABLE: a full disk, where nothing was written and no transaction stays open', async () => {
    const store = storeOn(freshFile())
    await store.enqueue([newJob(ids)])
    const payload = JSON.stringify('x'.repeat(1_000_000))
    const filling = store.transaction(async (tx) => {
      const db = tx.db as ReturnType<typeof userDb>
      db.prepare('pragma max_page_count = 100').all()
      await store.enqueue([newJob(ids, { payload })], tx)
    })
    await expect(filling).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining('full') })
    expect(await store.enqueue([newJob(ids, { payload })])).toMatchObject([{ status: 'inserted' }])
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 2 }])
  })

  it('DRIVER_MISSING: says what to install', async () => {
    const file = freshFile('copy')
    cpSync(DIST, join(file, 'dist'), { recursive: true })
    const child = runChild(
      `for (const driver of ['libsql', 'better-sqlite3']) {
         const error = await sqlite(args[0], { driver }).admin.count({}).catch((error) => error)
         console.log(error.code, error.message.includes('npm install ' + driver))
       }`,
      [join(file, 'jobs.db')],
      { dist: join(file, 'dist/') },
    )
    expect(await child.ended).toBe('DRIVER_MISSING true\nDRIVER_MISSING true\n')
  })

  it('DRIVER_MISSING: a driver that is there and cannot be loaded is told among the causes', async () => {
    const file = freshFile('copy')
    cpSync(DIST, join(file, 'dist'), { recursive: true })
    mkdirSync(join(file, 'node_modules/libsql'), { recursive: true })
    writeFileSync(join(file, 'node_modules/libsql/index.js'), "throw new Error('the binding is for another machine')")
    const child = runChild(
      `process.getBuiltinModule = () => undefined
       const error = await sqlite(args[0]).admin.count({}).catch((error) => error)
       console.log(error.code, error.cause.message.includes('the binding is for another machine'))`,
      [join(file, 'jobs.db')],
      { dist: join(file, 'dist/') },
    )
    expect(await child.ended).toBe('DRIVER_MISSING true\n')
  })
})
