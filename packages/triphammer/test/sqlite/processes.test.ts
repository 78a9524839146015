import { describe, expect, it } from 'vitest'
import { newJob } from '../../conformance/builders.ts'
import { freshFile, ids, runChild, storeOn, userDb } from './place.ts'

const CLAIMER = `
  const store = sqlite(args[0], { synchronous: 'normal' })
  const [session, limit] = [createIds().next(), Number(args[1])]
  const counts = { ran: [], stale: 0 }
  await store.admin.count({})
  console.log('ready')
  await new Promise((resolve) => process.stdin.once('data', resolve))
  let finish = []
  for (;;) {
    const { runs, finished } = await store.claim({ session, queue: 'default', limit, leaseMs: 60_000, finish })
    counts.stale += finished.filter(({ state }) => state !== 'applied').length
    if (runs.length === 0 && finish.length === 0) break
    counts.ran.push(...runs.map(({ id }) => id))
    finish = runs.map(({ lease }, at) => (at % 5 === 4 ? { lease, kind: 'release' } : { lease, kind: 'completed' }))
  }
  await store.close()
  console.log(JSON.stringify(counts))
  process.stdin.destroy()`

describe('eight processes on one file', () => {
  it('[I1] run every job, and finish none twice', { timeout: 120_000 }, async () => {
    const file = freshFile()
    const store = storeOn(file)
    const jobs = Array.from({ length: 400 }, (_, at) => newJob(ids, { priority: at % 3 }))
    await store.enqueue(jobs)
    // The database itself counts what is put into history.
    const db = userDb(file)
    db.exec(
      `create table tally (id text); create trigger counted after insert on triphammer_history begin insert into tally values (new.id); end`,
    )

    const children = [1, 2, 3, 5, 7, 10, 10, 20].map((limit) => runChild(CLAIMER, [file, String(limit)]))
    await Promise.all(children.map((child) => child.line('ready')))
    for (const child of children) child.send('go')
    const results = await Promise.all(
      children.map(async ({ ended }) => JSON.parse((await ended).split('\n')[1]!) as { ran: string[]; stale: number }),
    )

    expect(results.reduce((sum, { stale }) => sum + stale, 0)).toBe(0)
    expect(new Set(results.flatMap(({ ran }) => ran))).toEqual(new Set(jobs.map(({ id }) => id)))
    expect(await store.admin.count({}, 'state')).toEqual([{ key: 'completed', count: jobs.length }])
    expect(db.prepare('select count(*) as n, count(distinct id) as ids from tally').all()).toMatchObject([
      { n: jobs.length, ids: jobs.length },
    ])
    expect(db.prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  })

  it('[I1] a process that is killed loses nothing: what it held is reclaimed, what it had finished stays so', async () => {
    const file = freshFile()
    const store = storeOn(file)
    const jobs = Array.from({ length: 20 }, () => newJob(ids))
    await store.enqueue(jobs)
    const child = runChild(
      `const store = sqlite(args[0])
       const claim = (finish) => store.claim({ session: createIds().next(), queue: 'default', limit: 10, leaseMs: 1, finish })
       const { runs } = await claim([])
       await claim(runs.map(({ lease }) => ({ lease, kind: 'completed' })))
       process.kill(process.pid, 'SIGKILL')`,
      [file],
    )
    await expect(child.ended).rejects.toThrow('SIGKILL')
    expect(await store.admin.count({}, 'state')).toEqual([
      { key: 'completed', count: 10 },
      { key: 'running', count: 10 },
    ])
    const held = await store.reclaim({ session: 'mine', limit: 100, leaseMs: 60_000 })
    expect(held.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 10 }, () => 1))
    expect(userDb(file).prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  })
})
