import { expect, it } from 'vitest'
import { createPlace, plain, TIME, until, work } from './processes.ts'

const JOBS = 200

it('[I8] [I10] workers that are killed in the middle of their jobs: others end them all, each with its effects once', TIME, async () => {
  const { jobs, db, worker, effects, finishes } = await createPlace()
  const results = await jobs.enqueueMany(work, Array.from({ length: JOBS }))
  for (let killed = 0; killed < 4; killed++) {
    const victim = worker('works')
    // Dead in the middle of jobs that run, with more in hand: whatever it is writing just then is half done.
    await until(() => victim.count('started') >= 6)
    victim.child.kill('SIGKILL')
  }
  const survivors = [worker('works'), worker('works')]
  await until(async () => (await jobs.count({ state: 'completed' })) === JOBS)

  expect(await jobs.countBy('state')).toEqual({ completed: JOBS })
  const once = results.map(({ id }) => id).sort()
  expect([effects(), finishes()]).toEqual([once, once])
  for (const { attempt, maxAttempts } of (await jobs.list({}, { limit: JOBS })).jobs) expect(attempt).toBeLessThanOrEqual(maxAttempts)
  expect(db.prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  for (const survivor of survivors) {
    expect(await survivor.end()).toBe(0)
    expect(survivor.count('unhandled') + survivor.count('warning')).toBe(0)
  }
})

it('[I8] a job whose workers are killed each time ends dead when its attempts are used up', TIME, async () => {
  const { jobs, worker } = await createPlace()
  const { id } = await jobs.enqueue(work, undefined, { maxAttempts: 2 })
  for (let attempt = 1; attempt <= 2; attempt++) {
    const victim = worker('waits')
    await until(() => victim.count('started') === 1)
    expect(await jobs.get(id)).toMatchObject({ state: 'running', attempt })
    victim.child.kill('SIGKILL')
  }
  const last = worker('waits')
  await until(async () => (await jobs.get(id))?.state === 'dead')
  expect(await jobs.get(id)).toMatchObject({ attempt: 2, error: { code: 'LEASE_EXPIRED' } })
  expect(last.count('started')).toBe(0)
})

it('[I3] [I8] the jobs of a worker that is killed are done within two leases, each finished once', TIME, async () => {
  const LEASE_MS = 6_000
  const options = { lease: LEASE_MS }
  const { jobs, db, worker, effects, finishes } = await createPlace()
  const victim = worker('waits', { ...options, queues: { default: { concurrency: 4, prefetch: 12 } } })
  await until(() => victim.count('up') === 1)
  const works = (await jobs.enqueueMany(work, Array.from({ length: 6 }))).map(({ id }) => id)
  const plains = (await jobs.enqueueMany(plain, Array.from({ length: 6 }))).map(({ id }) => id)
  // Four run, the others are held.
  await until(async () => victim.count('started') === 4 && (await jobs.count({ state: 'running' })) === 12)
  const survivor = worker('works', options)
  await until(() => survivor.count('up') === 1)
  victim.child.kill('SIGKILL')
  const killedAt = Date.now()
  await until(async () => (await jobs.count({ state: 'completed' })) === 12)

  for (const { attempt, endedAt, leaseUntil } of (await jobs.list()).jobs) {
    expect(attempt).toBe(2)
    expect(leaseUntil).toBeUndefined()
    expect(endedAt!.getTime() - killedAt).toBeLessThan(2 * LEASE_MS)
  }
  expect(effects()).toEqual(works.sort())
  expect(db.prepare('select distinct pid from effects').all()).toMatchObject([{ pid: survivor.child.pid }])
  expect(finishes()).toEqual([...works, ...plains].sort())
  expect(await survivor.end()).toBe(0)
  expect(survivor.lines.flatMap(({ what, id }) => (what === 'completed' ? [id] : [])).sort()).toEqual([...works, ...plains].sort())
  expect(victim.count('completed')).toBe(0)
})
