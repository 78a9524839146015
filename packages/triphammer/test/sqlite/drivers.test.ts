import { describe, expect, it } from 'vitest'
import { connectionOn } from '../../src/sql/sqlite-connection.ts'
import { loadDriver, SQLITE_DRIVERS } from '../../src/sql/sqlite-drivers.ts'
import { classifySqliteError } from '../../src/sql/sqlite-errors.ts'
import { handleOn, recognise } from '../../src/sql/sqlite-handles.ts'
import { AVAILABLE, freshFile, type UserDb, userDb } from './place.ts'

const open = (file: string, driver = AVAILABLE[0]!) =>
  connectionOn(handleOn(driver, userDb(file, driver)), (error) => classifySqliteError(error, file))

describe.each(AVAILABLE)('the adapter of %s', (driver) => {
  it('is loaded, and its connections are recognised', () => {
    const loaded = loadDriver(driver)
    expect(loaded.name).toBe(driver)
    expect(recognise(userDb(':memory:', driver))).toEqual({ driver, sqliteClass: loaded.sqliteClass })
  })

  it('runs, reads and tells of transactions', () => {
    const db = open(':memory:', driver)
    db.exec('create table t (a integer, b text, c real)')
    expect(db.run('insert into t values (?, ?, ?), (2, null, 1.5)', [9007199254740991, 'ü', null])).toBe(2)
    expect(db.run('update t set b = ? where a > 2', ['x'])).toBe(1)
    expect(db.run('delete from t where a = 77')).toBe(0)
    expect(db.all('select a, b, c from t order by a').map(({ a, b, c }) => [a, b, c])).toEqual([
      [2, null, 1.5],
      [9007199254740991, 'x', null],
    ])
    expect(db.all('insert into t (a) values (3) returning a')).toMatchObject([{ a: 3 }])
    expect(db.get('select a from t where a = 77')).toBeUndefined()
    expect(db.inTransaction).toBe(false)
    db.exec('begin')
    expect(db.inTransaction).toBe(true)
    db.exec('rollback')
    expect(db.inTransaction).toBe(false)
  })

  it('reads any number of rows with one statement, used again', () => {
    const db = open(':memory:', driver)
    db.exec('create table t (a integer)')
    const count = 'with recursive n (a) as (select 1 union all select a + 1 from n where a < ?) select a from n'
    for (const rows of [1, 99, 100, 101, 250]) expect(db.all(count, [rows])).toHaveLength(rows)
  })

  it("gives numbers on a user's connection that is set to BigInts, and leaves that as it is", () => {
    const user = userDb(':memory:', driver) as UserDb & { defaultSafeIntegers?: (on: boolean) => unknown }
    user.defaultSafeIntegers?.(true)
    const db = connectionOn(handleOn(driver, user), (error) => error)
    expect(db.get('select 5 as n')?.['n']).toBe(5)
    expect(user.prepare('select 5 as n').all()[0]?.['n']).toBe(user.defaultSafeIntegers ? 5n : 5)
  })

  it('a connection that has been closed refuses; it does not take the process with it', () => {
    const db = open(':memory:', driver)
    db.exec('create table t (a integer)')
    db.run('insert into t values (1)')
    db.close()
    db.close()
    expect(db.inTransaction).toBe(false)
    expect(() => db.exec('begin')).toThrow(expect.objectContaining({ code: 'STORE_UNAVAILABLE' }))
    expect(() => db.run('insert into t values (1)')).toThrow(expect.objectContaining({ code: 'STORE_UNAVAILABLE' }))
  })

  it('STORE_BUSY, SCHEMA_MISSING, STORE_REFUSED: errors by the result code, the cause kept', () => {
    const file = freshFile()
    const [db, other] = [open(file, driver), open(file, driver)]
    db.exec('pragma busy_timeout = 0')
    db.exec('create table t (a integer primary key, b integer) strict')
    other.exec('begin immediate')
    const code = (code: string) => expect.objectContaining({ code, cause: expect.any(Error) })
    expect(() => db.exec('begin immediate')).toThrow(code('STORE_BUSY'))
    other.exec('rollback')
    expect(() => db.all('select * from triphammer_live')).toThrow(code('SCHEMA_MISSING'))
    expect(() => db.all('select * from users')).toThrow(code('STORE_REFUSED'))
    db.run('insert into t values (1, 1)')
    expect(() => db.run('insert into t values (1, 1)')).toThrow(code('STORE_REFUSED'))
    expect(() => db.run('insert into t values (2, 1.5)')).toThrow(code('STORE_REFUSED'))
  })

  it('STORE_BUSY also for a transaction that read before another wrote', () => {
    const file = freshFile()
    const [db, other] = [open(file, driver), open(file, driver)]
    db.get('pragma journal_mode = wal')
    db.exec('pragma busy_timeout = 0; create table t (a integer); begin')
    db.all('select * from t')
    other.run('insert into t values (1)')
    expect(() => db.run('insert into t values (2)')).toThrow(expect.objectContaining({ code: 'STORE_BUSY' }))
    db.exec('rollback')
  })
})

describe('drivers', () => {
  it('the first that is there is taken, and one that is not there is DRIVER_MISSING', () => {
    expect(loadDriver(undefined).name).toBe(AVAILABLE[0])
    for (const driver of SQLITE_DRIVERS.filter((name) => !AVAILABLE.includes(name))) {
      expect(() => loadDriver(driver)).toThrow(expect.objectContaining({ code: 'DRIVER_MISSING' }))
    }
  })

  it('nothing else is taken for a connection', () => {
    class Pool {
      prepare(): void {}
      exec(): void {}
      close(): void {}
    }
    for (const other of [{}, [], new Pool(), Object.create(null), new Map()]) expect(recognise(other)).toBeUndefined()
  })

  it('an error that is not of SQLite stays as it is', () => {
    for (const error of [new TypeError('no'), new RangeError(), 'text', undefined]) expect(classifySqliteError(error, 'x')).toBe(error)
  })
})
