import { describe, expect, it } from 'vitest'
import { newJob, request, sessionInfo } from '../../conformance/builders.ts'
import { manualClock } from '../../src/core/manual-clock.ts'
import { freshFile, ids, runChild, storeOn, userDb } from './place.ts'

const INSERT = 'insert into triphammer_migrations (id, name, breaking, applied_at) values'

describe('the schema', () => {
  it('is pending, then applied; a dry run changes nothing', async () => {
    const { schema } = storeOn(freshFile(), { migrate: false })
    const dry = await schema.migrate({ dryRun: true })
    expect(dry.map(({ id }) => id)).toEqual([1])
    expect(dry[0]?.sql).toContain('create table triphammer_live')
    expect((await schema.status()).pending).toEqual(dry)
    expect(await schema.migrate()).toEqual(dry)
    expect(await schema.migrate()).toEqual([])
    expect(await schema.status()).toEqual({ applied: [{ id: 1, name: 'jobs', breaking: true }], pending: [], unknown: [] })
  })

  it('SCHEMA_MISSING with migrate: false, and nothing is created', async () => {
    const file = freshFile()
    const store = storeOn(file, { migrate: false })
    for (const call of [() => store.enqueue([newJob(ids)]), () => store.claim(request()), () => store.beat(sessionInfo())]) {
      await expect(call()).rejects.toMatchObject({ code: 'SCHEMA_MISSING', message: expect.stringContaining('triphammer migrate') })
    }
    expect(userDb(file).prepare('select name from sqlite_schema').all()).toEqual([])
    await store.schema.migrate()
    expect(await store.enqueue([newJob(ids)])).toMatchObject([{ status: 'inserted' }])
  })

  it('is in the way of nobody: every object bears the prefix', async () => {
    const file = freshFile()
    const db = userDb(file)
    db.exec('create table jobs (id integer); create table sessions (id integer); create view queues as select 1 as one')
    await storeOn(file).enqueue([newJob(ids)])
    const names = db
      .prepare("select name from sqlite_schema where name not like 'triphammer\\_%' escape '\\' and name not like 'sqlite\\_%' escape '\\'")
      .all()
    expect(names.map(({ name }) => name).sort()).toEqual(['jobs', 'queues', 'sessions'])
  })

  it('SCHEMA_TOO_NEW: a newer step that breaks, also for a store that is running', async () => {
    const file = freshFile()
    const store = storeOn(file)
    await store.enqueue([newJob(ids)])
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 1 }]) // by now it has seen the schema in order
    const db = userDb(file)
    db.exec(`begin immediate; alter table triphammer_live add column lane text; ${INSERT} (2, 'lanes', 1, 0); commit`)
    const calls = [
      () => store.enqueue([newJob(ids)]),
      () => store.claim(request()),
      () => store.beat(sessionInfo()),
      () => store.admin.count({}),
      () => store.transaction((tx) => store.enqueue([newJob(ids)], tx)),
      () => store.schema.migrate(),
      () => storeOn(file).claim(request()),
      () => storeOn(file, { migrate: false }).claim(request()),
    ]
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW', message: expect.stringContaining('lanes') })
    expect(db.prepare('select count(*) as n from triphammer_live').all()).toMatchObject([{ n: 1 }])
    expect((await store.schema.status()).unknown).toEqual([{ id: 2, name: 'lanes', breaking: true }])
  })

  it('a newer step that breaks nothing is no obstacle', async () => {
    const file = freshFile()
    const store = storeOn(file)
    await store.enqueue([newJob(ids)])
    userDb(file).exec(`begin immediate; alter table triphammer_live add column note text; ${INSERT} (2, 'notes', 0, 0); commit`)
    expect((await store.claim(request())).runs).toHaveLength(1)
    expect((await storeOn(file).schema.status()).unknown).toEqual([{ id: 2, name: 'notes', breaking: false }])
  })

  it('several processes may create it at once', async () => {
    const file = freshFile()
    const clock = manualClock()
    const children = Array.from({ length: 4 }, () =>
      runChild(
        `const store = sqlite(args[0])
         console.log('ready')
         process.stdin.once('data', async () => {
           const id = createIds().next()
           const [result] = await store.enqueue([{ id, task: 't', queue: 'default', payload: '1', priority: 0, maxAttempts: 1 }])
           console.log(result.status)
           await store.close()
           process.stdin.destroy()
         })`,
        [file],
      ),
    )
    await Promise.all(children.map((child) => child.line('ready')))
    for (const child of children) child.send('go')
    for (const child of children) expect(await child.ended).toBe('ready\ninserted\n')
    const store = storeOn(file, { clock })
    expect((await store.schema.status()).applied).toHaveLength(1)
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 4 }])
  })

  it('triphammer_jobs shows one row for each job, live or ended', async () => {
    const file = freshFile()
    const clock = manualClock()
    const store = storeOn(file, { clock })
    await store.enqueue(['a', 'b', 'c', 'd'].map((queue) => newJob(ids, { queue })))
    const [b, c, d] = await Promise.all(['b', 'c', 'd'].map(async (queue) => (await store.claim(request({ queue }))).runs[0]!))
    await store.finish([
      { lease: c!.lease, kind: 'completed', result: '{"done":true}' },
      { lease: d!.lease, kind: 'dead', error: { name: 'Error', message: 'no' } },
    ])
    await store.admin.apply({ ids: [b!.id] }, { kind: 'cancel' }, { limit: 1 })
    const now = '2026-01-01T00:00:00.000Z'
    const rows = userDb(file)
      .prepare(
        'select queue, state, run_at, started_at, ended_at, lease_until, cancel_requested, result, error from triphammer_jobs order by queue',
      )
      .all()
    const shared = { run_at: now, result: null, error: null, lease_until: null, cancel_requested: 0 }
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { ...shared, queue: 'a', state: 'pending', started_at: null, ended_at: null },
      {
        ...shared,
        queue: 'b',
        state: 'running',
        started_at: now,
        ended_at: null,
        lease_until: '2026-01-01T00:01:00.000Z',
        cancel_requested: 1,
      },
      { ...shared, queue: 'c', state: 'completed', started_at: now, ended_at: now, result: '{"done":true}' },
      { ...shared, queue: 'd', state: 'dead', started_at: now, ended_at: now, error: '{"name":"Error","message":"no"}' },
    ])
  })
})
