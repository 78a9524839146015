import { cpSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { newJob, request, sessionInfo } from '../../conformance/builders.ts'
import { createIds } from '../../src/core/ids.ts'
import type { SqliteConnection } from '../../src/sql/sqlite-connection.ts'
import type { SqliteOptions } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { parseSqliteOptions } from '../../src/stores/sqlite/options.ts'
import { createSameFile } from '../../src/stores/sqlite/same-file.ts'
import { freshFile, ids, runChild, storeOn, userDb } from '../sqlite/place.ts'
import { createPlace, TIME, until, work } from './processes.ts'

const ENDINGS = ['', '-wal', '-shm']

async function opened(jobs: number, options: SqliteOptions = {}): Promise<{ readonly file: string; readonly store: Store }> {
  const file = freshFile()
  const store = storeOn(file, options)
  await store.enqueue(Array.from({ length: jobs }, () => newJob(ids)))
  return { file, store }
}

function remove(file: string): void {
  for (const ending of ENDINGS) rmSync(`${file}${ending}`, { force: true })
}

function unavailable(words: string): object {
  return { code: 'STORE_UNAVAILABLE', message: expect.stringContaining(words) }
}

/** Everything that is asked of a store by a client and by a worker. */
function calls(store: Store): readonly (readonly [string, () => Promise<unknown>])[] {
  return [
    ['enqueue', () => store.enqueue([newJob(ids)])],
    ['claim', () => store.claim(request())],
    ['beat', () => store.beat(sessionInfo())],
    ['extend', () => store.extend([{ id: ids.next(), token: ids.next() }], { leaseMs: 1_000 })],
    ['reclaim', () => store.reclaim({ session: 's', limit: 1, leaseMs: 1_000 })],
    ['maintain', () => store.maintain({ session: 's', limit: 1 })],
    ['count', () => store.admin.count({})],
    ['transaction', () => store.transaction((tx) => store.enqueue([newJob(ids)], tx))],
    ['migrate', () => store.schema.migrate()],
  ]
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function count(store: Store): Promise<number | undefined> {
  return (await store.admin.count({}))[0]?.count
}

describe('a file that is removed while it is open', () => {
  it('each call says so from the first on, and none makes another in its place', async () => {
    for (const at of calls({} as Store).keys()) {
      const { file, store } = await opened(1)
      await store.transaction(async () => {}) // the second connection is open as well
      remove(file)
      const [name, call] = calls(store)[at]!
      await expect(call(), name).rejects.toMatchObject(unavailable(`${file} was removed`))
      await expect(call(), name).rejects.toMatchObject(unavailable(`${file} was removed`))
      expect(readdirSync(dirname(file)), name).toEqual([])
    }
  })

  it('with its folder', async () => {
    const { file, store } = await opened(1)
    rmSync(dirname(file), { recursive: true })
    for (const [name, call] of calls(store)) await expect(call(), name).rejects.toMatchObject(unavailable('was removed'))
    expect(existsSync(dirname(file))).toBe(false)
  })

  it('and put back: the store goes on with all that it had, what was in the log alone too', async () => {
    const { file, store } = await opened(3)
    renameSync(file, `${file}.moved`)
    await expect(store.enqueue([newJob(ids)])).rejects.toMatchObject(unavailable('was removed'))
    renameSync(`${file}.moved`, file)
    expect(await count(store)).toBe(3)
    expect(await store.enqueue([newJob(ids)])).toMatchObject([{ status: 'inserted' }])
    expect(userDb(file).prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  })

  it('what was written to it last is not acknowledged', async () => {
    const file = freshFile()
    const real = createIds()
    let isRemoved = false
    // A token is asked for in the middle of a claim.
    const next = (): string => {
      if (isRemoved) remove(file)
      return real.next()
    }
    const store = storeOn(file, { ids: { ...real, next } })
    await store.enqueue([newJob(ids)])
    isRemoved = true
    await expect(store.claim(request())).rejects.toMatchObject(unavailable('was removed'))
  })

  it('a transaction is not begun on it', async () => {
    const { file, store } = await opened(1)
    await store.transaction(async () => {})
    remove(file)
    let isBegun = false
    const late = store.transaction(async () => {
      isBegun = true
    })
    await expect(late).rejects.toMatchObject(unavailable('was removed'))
    expect(isBegun).toBe(false)
  })

  it('within a transaction: it is refused, by the verb and by the end', async () => {
    const { file, store } = await opened(1)
    const late = store.transaction(async (tx) => {
      await store.enqueue([newJob(ids)], tx)
      remove(file)
    })
    await expect(late).rejects.toMatchObject(unavailable('was removed'))

    const again = await opened(1)
    const early = again.store.transaction(async (tx) => {
      remove(again.file)
      await expect(again.store.enqueue([newJob(ids)], tx)).rejects.toMatchObject(unavailable('was removed'))
    })
    await expect(early).rejects.toMatchObject(unavailable('was removed'))
  })

  it("a job for it in the user's own transaction is refused", async () => {
    const { file, store } = await opened(1)
    const [known, unknown] = [userDb(file), userDb(file)]
    const enqueue = (db: ReturnType<typeof userDb>): unknown => {
      db.exec('begin')
      try {
        return store.facets.sync!.enqueue([newJob(ids)], store.adopt(db))
      } finally {
        db.exec('commit')
      }
    }
    expect(enqueue(known)).toMatchObject([{ status: 'inserted' }])
    remove(file)
    for (const db of [known, unknown]) expect(() => enqueue(db)).toThrow(expect.objectContaining(unavailable('was removed')))
  })
})

describe('a file that another takes the place of', () => {
  it('one call says so, and the next works with what stands there now', async () => {
    const { file, store } = await opened(3)
    await store.transaction(async () => {})
    remove(file)
    const other = storeOn(file)
    await other.enqueue([newJob(ids)])
    await expect(store.enqueue([newJob(ids)])).rejects.toMatchObject(unavailable(`${file} was replaced`))
    expect(await count(store)).toBe(1)
    expect(await store.enqueue([newJob(ids)])).toMatchObject([{ status: 'inserted' }])
    await store.transaction((tx) => store.enqueue([newJob(ids)], tx))
    expect(await count(other)).toBe(3)
    await other.close()
    expect(userDb(file).prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  })

  it('put there whole, as a backup is restored', async () => {
    const { file, store } = await opened(3)
    const backup = freshFile('backup.db')
    userDb(file).prepare('vacuum into ?').run(backup)
    await store.enqueue([newJob(ids)])
    remove(file)
    cpSync(backup, `${file}.new`)
    renameSync(`${file}.new`, file)
    await expect(store.admin.count({})).rejects.toMatchObject(unavailable('was replaced'))
    expect(await count(store)).toBe(3)
    expect(await store.enqueue([newJob(ids)])).toMatchObject([{ status: 'inserted' }])
  })

  it('which has no tables of ours: they are not made in place of those that were lost', async () => {
    const { file, store } = await opened(1)
    remove(file)
    writeFileSync(file, '')
    await expect(store.admin.count({})).rejects.toMatchObject(unavailable('was replaced'))
    await expect(store.enqueue([newJob(ids)])).rejects.toMatchObject(unavailable('was removed'))
    const db = userDb(file)
    db.exec('create table users (id integer)')
    await expect(store.enqueue([newJob(ids)])).rejects.toMatchObject(unavailable('no tables of triphammer'))
    expect(db.prepare('select name from sqlite_schema').all()).toMatchObject([{ name: 'users' }])
    expect(db.prepare('pragma journal_mode').all()).toMatchObject([{ journal_mode: 'delete' }])

    await storeOn(file).schema.migrate()
    expect(await store.enqueue([newJob(ids)])).toMatchObject([{ status: 'inserted' }])
  })

  it('which has the number of the old one: that is given out again when nobody has the old one open', async () => {
    const file = freshFile()
    const sameFile = createSameFile(parseSqliteOptions(file, {}))
    const db = {} as SqliteConnection
    expect(sameFile.admission()).toBeUndefined()
    writeFileSync(file, 'a')
    sameFile.note(db)
    sameFile.check(db)
    expect(sameFile.admission()).toBeUndefined()
    renameSync(file, `${file}.moved`)
    expect(() => sameFile.check(db)).toThrow(expect.objectContaining(unavailable('was removed')))
    renameSync(`${file}.moved`, file)
    expect(sameFile.admission()).toBeTypeOf('function')
  })

  it('while its log was left behind: no other process can use it until the store has let go, and then it is whole', TIME, async () => {
    const { file, store } = await opened(50)
    rmSync(file)
    const ENQUEUE = `
      const store = sqlite(args[0])
      const job = { id: createIds().next(), task: 't', queue: 'default', payload: '1', priority: 0, maxAttempts: 1 }
      console.log(await store.enqueue([job]).then(() => 'inserted', ({ code }) => code))
      await store.close()`
    expect(await runChild(ENQUEUE, [file]).ended).toBe('STORE_UNAVAILABLE\n')
    await expect(store.beat(sessionInfo())).rejects.toMatchObject(unavailable('was replaced'))
    await vi.waitFor(
      async () => {
        collectGarbage() // libsql holds a connection that was closed until its statements have been collected
        expect(await runChild(ENQUEUE, [file]).ended).toBe('inserted\n')
      },
      { timeout: 60_000, interval: 100 },
    )
    expect(await count(store)).toBe(1)
    expect(userDb(file).prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  })
})

it('a file that was never opened may come and go', async () => {
  const file = freshFile()
  const store = storeOn(file)
  await storeOn(file).enqueue([newJob(ids)])
  remove(file)
  expect(await store.enqueue([newJob(ids)])).toMatchObject([{ status: 'inserted' }])
})

describe('a worker whose file is removed', () => {
  it.each([
    ['with its log', remove],
    ['with its folder', (file: string) => rmSync(dirname(file), { recursive: true })],
  ])('[I1] %s: it says so once, waits for a file, and works on the new one; what it had in hand is lost', TIME, async (_, removeIt) => {
    const { file, jobs, worker } = await createPlace()
    const one = worker('waits')
    const old = (await jobs.enqueueMany(work, [undefined, undefined])).map(({ id }) => id)
    await until(async () => one.count('started') === 1 && (await jobs.count({ state: 'running' })) === 2)
    removeIt(file)
    await until(() => one.count('unavailable') === 1)
    expect(one.lines).toContainEqual({ what: 'unavailable', ...unavailable('was removed') })
    await expect(jobs.enqueue(work, undefined)).rejects.toMatchObject(unavailable('was removed'))
    expect(existsSync(file)).toBe(false)

    const anew = await createPlace(file)
    const fresh = (await anew.jobs.enqueueMany(work, [undefined, undefined, undefined])).map(({ id }) => id)
    await until(() => one.count('aborted') === 1)
    one.child.kill('SIGUSR2')
    await until(async () => (await anew.jobs.count({ state: 'completed' })) === fresh.length)
    await until(() => one.count('lost') === old.length)
    expect(one.lines).toContainEqual({ what: 'refused', id: old[0], code: 'LEASE_LOST' })
    expect(anew.effects()).toEqual(fresh.sort())
    expect(anew.finishes()).toEqual(fresh)
    // The client that had the old file open has come along as well.
    await until(async () => (await jobs.enqueue(work, undefined)).status === 'inserted')
    await until(async () => (await jobs.count({ state: 'completed' })) === fresh.length + 1)
    await until(() => one.count('available') === 1)
    expect(one.count('unavailable')).toBe(1)
    expect(await one.end()).toBe(0)
  })
})
