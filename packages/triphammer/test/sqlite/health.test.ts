import { chmodSync, closeSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientOn } from '../../src/client/client.ts'
import type { Diagnosis } from '../../src/client/doctor.ts'
import { defineTask } from '../../src/core/task.ts'
import type { SqliteOptions } from '../../src/sqlite.ts'
import { freshFile, runChild, storeOn, userDb } from './place.ts'

const work = defineTask('work')

const open = (file: string, options: SqliteOptions = {}) => clientOn({ store: storeOn(file, options), logger: false })
const finding = ({ findings }: Diagnosis, check: string) => findings.find((one) => one.check === check)

describe('the health of a SQLite file', () => {
  it('is looked at: access, disk, size, log and readers', async () => {
    const file = freshFile()
    const jobs = open(file)
    await jobs.enqueue(work)
    const diagnosis = await jobs.doctor()
    for (const check of ['access', 'disk', 'size', 'log', 'readers']) expect(finding(diagnosis, check)).toMatchObject({ level: 'ok' })
    expect(finding(diagnosis, 'access')?.message).toContain(file)
    expect(finding(diagnosis, 'damage')).toBeUndefined()
    expect(finding(await jobs.doctor({ deep: true }), 'damage')).toMatchObject({ level: 'ok' })
  })

  it('a database in memory has a size and nothing else', async () => {
    const { findings } = await open(':memory:').doctor({ deep: true })
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['size', 'damage']))
    for (const check of ['access', 'disk', 'log', 'readers']) expect(findings.map((one) => one.check)).not.toContain(check)
  })

  it('a log over its limit', async () => {
    const jobs = open(freshFile(), { walLimitBytes: 4_096 })
    await jobs.enqueueMany(work, Array.from({ length: 100 }))
    expect(finding(await jobs.doctor(), 'log')).toMatchObject({ level: 'warning', message: expect.stringMatching(/has \d+ KiB, of 4 KiB/) })
  })

  it('a reader that stays, and that it has gone', async () => {
    const file = freshFile()
    const jobs = open(file)
    await jobs.enqueue(work)
    const reader = userDb(file)
    reader.exec('begin')
    reader.prepare('select count(*) from triphammer_live').all()
    await jobs.enqueueMany(work, Array.from({ length: 100 }))
    expect(finding(await jobs.doctor(), 'readers')).toMatchObject({ level: 'warning', message: expect.stringMatching(/keeps \d+ pages/) })
    reader.exec('commit')
    expect(finding(await jobs.doctor(), 'readers')).toMatchObject({ level: 'ok' })
  })

  it('a schema that is missing, or newer than this library', async () => {
    const file = freshFile()
    userDb(file).exec('create table mine (a)')
    const before = await open(file, { migrate: false }).doctor()
    expect(finding(before, 'schema')).toMatchObject({ level: 'problem', advice: 'run `triphammer migrate`' })
    expect(before.findings.map(({ check }) => check)).not.toContain('workers')
    expect(finding(before, 'disk')).toMatchObject({ level: 'ok' })
    await open(file).migrate()
    const migrations = userDb(file)
    migrations.exec("insert into triphammer_migrations (id, name, breaking, applied_at) values (998, 'some', 0, 0)")
    expect(finding(await open(file).doctor(), 'schema')).toMatchObject({ level: 'ok', message: expect.stringContaining('newer') })
    migrations.exec("insert into triphammer_migrations (id, name, breaking, applied_at) values (999, 'other', 1, 0)")
    expect(finding(await open(file).doctor(), 'schema')).toMatchObject({
      level: 'problem',
      message: expect.stringMatching(/999 \(other\)/),
    })
  })

  it('damage, which is a problem whether it is found by looking for it or met by the way', async () => {
    const file = freshFile()
    const jobs = open(file)
    await jobs.enqueueMany(work, Array.from({ length: 500 }))
    userDb(file).prepare('pragma wal_checkpoint(truncate)').all() // what is still in the log would hide the damage
    await jobs.close()
    const handle = openSync(file, 'r+')
    for (let page = 8; page < 20; page++) writeSync(handle, Buffer.alloc(2_048, 0x5a), 0, 2_048, page * 4_096)
    closeSync(handle)
    const { healthy, findings } = await open(file).doctor({ deep: true })
    expect(healthy).toBe(false)
    expect(
      findings
        .filter(({ level }) => level === 'problem')
        .map(({ message }) => message)
        .join(),
    ).toMatch(/damaged/)
  })

  it('a file that may not be written', async () => {
    const file = freshFile()
    await open(file).enqueue(work)
    // Root may write whatever the permissions say: a process of somebody else is asked.
    const script = `
      import { accessSync, constants } from 'node:fs'
      const store = sqlite(args[0], { migrate: false })
      const findings = await store.facets.health.check({ deep: false }).catch((error) => [{ check: 'access', level: 'problem', message: error.message }])
      console.log(JSON.stringify(findings.find(({ check }) => check === 'access')))`
    chmodSync(dirname(file), 0o555)
    chmodSync(file, 0o444)
    const identity = process.getuid?.() === 0 ? { identity: { uid: 65_534, gid: 65_534 } } : {}
    const told = JSON.parse(await runChild(script, [file], identity).ended) as object
    chmodSync(dirname(file), 0o755)
    expect(told).toMatchObject({ level: 'problem' })
  })
})
