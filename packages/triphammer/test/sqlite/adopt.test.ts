import { symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completed, failure, newJob, request } from '../../conformance/builders.ts'
import type { Store } from '../../src/store/store.ts'
import type { NewJob } from '../../src/store/types.ts'
import { AVAILABLE, afterwards, freshFile, ids, storeOn, type UserDb, userDb } from './place.ts'

const states = async (store: Store): Promise<Record<string, string>> => {
  const { jobs } = await store.admin.find({}, { limit: 100, order: 'oldest' })
  return Object.fromEntries(jobs.map(({ id, state }) => [id, state]))
}
const users = (db: UserDb): unknown => db.prepare('select count(*) as n from users').all()[0]?.['n']
const fourJobs = (): [NewJob, NewJob, NewJob, NewJob] => [newJob(ids), newJob(ids), newJob(ids), newJob(ids)]

describe.each(AVAILABLE)("a user's transaction on %s", (driver) => {
  const open = (): { file: string; db: UserDb; store: Store; enqueueSync: (job: NewJob) => unknown } => {
    const file = freshFile()
    const db = userDb(file, driver)
    db.exec('create table users (name text)')
    const store = storeOn(file, { driver })
    return { file, db, store, enqueueSync: (job) => store.facets.sync!.enqueue([job], store.adopt(db)) }
  }

  it('what is enqueued in it comes and goes with it, savepoints included', async () => {
    const { db, store, enqueueSync } = open()
    const [kept, undone, gone, late] = fourJobs()
    db.exec("begin; insert into users values ('a')")
    expect(enqueueSync(kept)).toEqual([{ id: kept.id, status: 'inserted' }])
    expect(enqueueSync(kept)).toEqual([{ id: kept.id, status: 'duplicate' }])
    db.exec("savepoint s; insert into users values ('b')")
    enqueueSync(undone)
    db.exec('rollback to s; release s; commit')
    db.exec("begin immediate; insert into users values ('c')")
    enqueueSync(gone)
    db.exec('rollback')
    db.exec('begin')
    enqueueSync(late)
    db.exec('commit')
    expect(await states(store)).toEqual({ [kept.id]: 'pending', [late.id]: 'pending' })
    expect(users(db)).toBe(1)
  })

  it('the asynchronous forms write before they return', async () => {
    const { db, store } = open()
    const [first, second] = fourJobs()
    await store.enqueue([first])
    const { runs } = await store.claim(request())
    db.exec('begin')
    const tx = store.adopt(db)
    expect(tx.db).toBe(db)
    const pending = [
      store.finish([completed(runs[0]!)], tx),
      store.enqueue([second], tx),
      store.admin.apply({ ids: [second.id] }, { kind: 'kill', error: failure() }, { limit: 1 }, tx),
    ]
    db.exec('commit')
    expect(await Promise.all(pending)).toMatchObject([[{ state: 'applied' }], [{ status: 'inserted' }], { changed: [{ state: 'dead' }] }])
    expect(await states(store)).toEqual({ [first.id]: 'completed', [second.id]: 'dead' })
  })

  it('a finish in it is taken back by its rollback', async () => {
    const { db, store } = open()
    const [job] = fourJobs()
    await store.enqueue([job])
    const { runs } = await store.claim(request())
    db.exec('begin immediate')
    await store.finish([completed(runs[0]!)], store.adopt(db))
    db.exec('rollback')
    expect(await states(store)).toEqual({ [job.id]: 'running' })
    expect((await store.finish([completed(runs[0]!)]))[0]?.state).toBe('applied')
  })

  it('comes first in a new database: the tables are made in it, and again after its rollback', async () => {
    const { db, store, enqueueSync } = open()
    const [gone, kept] = fourJobs()
    db.exec('begin')
    enqueueSync(gone)
    db.exec('rollback; begin')
    enqueueSync(kept)
    db.exec('commit')
    expect(await states(store)).toEqual({ [kept.id]: 'pending' })
  })

  it('[I4] a call that fails half way leaves nothing of itself, and the transaction goes on', async () => {
    const { db, store } = open()
    const [finished, kept] = fourJobs()
    await store.enqueue([finished])
    const { runs } = await store.claim(request())
    db.exec(`create temp trigger poison before insert on main.triphammer_live when new.task = 'poison' begin
      select raise(abort, 'poisoned'); end`)
    const many = Array.from({ length: 120 }, (_, at) => newJob(ids, { task: at === 110 ? 'poison' : 't' }))
    db.exec("begin; insert into users values ('a')")
    const tx = store.adopt(db)
    await store.enqueue([kept], tx)
    await expect(store.enqueue(many, tx)).rejects.toThrow('poisoned')
    await expect(store.finish([{ ...completed(runs[0]!), spawn: many }], tx)).rejects.toThrow('poisoned')
    db.exec("insert into users values ('b'); commit")
    expect(await states(store)).toEqual({ [finished.id]: 'running', [kept.id]: 'pending' })
    expect(users(db)).toBe(2)
  })

  it('one that ends the transaction is told as what it was', async () => {
    const { db, store } = open()
    await store.enqueue([newJob(ids)])
    db.exec(`create temp trigger fatal before insert on main.triphammer_live begin select raise(rollback, 'all is lost'); end`)
    db.exec("begin; insert into users values ('a')")
    const tx = store.adopt(db)
    await expect(store.enqueue([newJob(ids)], tx)).rejects.toThrow('all is lost')
    await expect(store.enqueue([newJob(ids)], tx)).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
    expect(users(db)).toBe(0)
  })

  it('SCHEMA_MISSING with migrate: false, and the transaction stays whole', () => {
    const { file, db } = open()
    const store = storeOn(file, { migrate: false, driver })
    db.exec("begin; insert into users values ('a')")
    const tx = store.adopt(db)
    expect(() => store.facets.sync!.enqueue([newJob(ids)], tx)).toThrow(expect.objectContaining({ code: 'SCHEMA_MISSING' }))
    db.exec('commit')
    expect(users(db)).toBe(1)
  })

  it('TX_NOT_OPEN without a transaction, after it, and on a closed connection', async () => {
    const { db, store } = open()
    const notOpen = expect.objectContaining({ code: 'TX_NOT_OPEN' })
    expect(() => store.adopt(db)).toThrow(notOpen)
    db.exec('begin')
    const tx = store.adopt(db)
    db.exec('commit')
    expect(() => store.adopt(db)).toThrow(notOpen)
    expect(() => store.facets.sync!.enqueue([newJob(ids)], tx)).toThrow(notOpen)
    await expect(store.enqueue([newJob(ids)], tx)).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
    db.close()
    expect(() => store.adopt(db)).toThrow(notOpen)
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 0 }])
  })

  it('TX_UNSUPPORTED for a connection to another file, or to none', () => {
    const { store } = open()
    for (const other of [userDb(freshFile(), driver), userDb(':memory:', driver)]) {
      other.exec('create table triphammer_live (id text); begin')
      expect(() => store.adopt(other)).toThrow(expect.objectContaining({ code: 'TX_UNSUPPORTED' }))
      other.exec('commit')
    }
  })

  it('is not misled by a rollback after which the schema is changed as often again', async () => {
    const { db, store, enqueueSync } = open()
    const version = (): unknown => db.prepare('pragma schema_version').all()[0]?.['schema_version']
    const [gone, kept] = fourJobs()
    db.exec('begin')
    enqueueSync(gone)
    const migrated = version()
    db.exec('rollback')
    for (let n = 0; version() !== migrated; n++) db.exec(`create table other_${n} (id integer)`)
    db.exec('begin')
    enqueueSync(kept)
    db.exec('commit')
    expect(await states(store)).toEqual({ [kept.id]: 'pending' })
  })

  it('knows its file by another name', async () => {
    const { file, db, store } = open()
    const alias = join(dirname(file), 'alias.db')
    symlinkSync(file, alias)
    for (const [its, theirs] of [
      [store, userDb(alias, driver)],
      [storeOn(alias), db],
    ] as const) {
      theirs.exec('begin')
      its.facets.sync!.enqueue([newJob(ids)], its.adopt(theirs))
      theirs.exec('commit')
    }
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 2 }])
  })

  it('STORE_BUSY at once when another connection writes, and the store itself stays out of it', async () => {
    const { file, db, store } = open()
    await store.enqueue([newJob(ids)])
    db.prepare('pragma busy_timeout = 0').all()
    const writer = userDb(file, driver)
    writer.exec('begin immediate')
    db.exec('begin')
    const tx = store.adopt(db)
    expect(() => store.facets.sync!.enqueue([newJob(ids)], tx)).toThrow(expect.objectContaining({ code: 'STORE_BUSY' }))
    const many = Array.from({ length: 120 }, () => newJob(ids))
    expect(() => store.facets.sync!.enqueue(many, tx)).toThrow(expect.objectContaining({ code: 'STORE_BUSY' }))
    writer.exec('commit')
    expect(store.facets.sync!.enqueue(many, tx).map(({ status }) => status)).toEqual(many.map(() => 'inserted'))
    expect(store.facets.sync!.enqueue([newJob(ids)], tx)).toMatchObject([{ status: 'inserted' }])
    db.exec('commit')
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 122 }])
  })
})

describe('two copies of SQLite in one process', () => {
  it('TX_UNSUPPORTED for a connection of another copy of the driver, once the store has opened the file', async () => {
    const file = freshFile()
    const store = storeOn(file, { driver: 'libsql' })
    await store.enqueue([newJob(ids)])
    const db = secondCopy(file)
    db.exec('begin')
    expect(() => store.adopt(db)).toThrow(
      expect.objectContaining({ code: 'TX_UNSUPPORTED', message: expect.stringContaining('two copies') }),
    )
    db.exec('commit')
  })

  it('TX_UNSUPPORTED as well when the option asks for the driver and nothing is open yet', () => {
    const file = freshFile()
    const db = secondCopy(file)
    db.exec('begin')
    expect(() => storeOn(file, { driver: 'libsql' }).adopt(db)).toThrow(expect.objectContaining({ code: 'TX_UNSUPPORTED' }))
    db.exec('commit')
  })

  it("otherwise the store opens the file with the user's copy", async () => {
    const file = freshFile()
    const [store, db] = [storeOn(file), secondCopy(file)]
    db.exec('begin immediate')
    store.facets.sync!.enqueue([newJob(ids)], store.adopt(db))
    db.exec('commit')
    const connection = await store.transaction(async (tx) => tx.db)
    expect(Object.getPrototypeOf(connection)).toBe(Object.getPrototypeOf(db))
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 1 }])
  })
})

// What a second installation of a driver looks like: another class of the same name.
function secondCopy(file: string): UserDb {
  const require = createRequire(import.meta.url)
  const path = require.resolve('libsql')
  const loaded = require.cache[path]
  delete require.cache[path]
  const Copy = require('libsql') as new (file: string) => UserDb
  if (loaded) require.cache[path] = loaded
  const db = new Copy(file)
  afterwards(() => db.close())
  return db
}
