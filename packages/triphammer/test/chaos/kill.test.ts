import { expect, it } from 'vitest'
import { createPlace, until, work } from './processes.ts'

const JOBS = 200

it('[I8] [I10] workers that are killed in the middle of their jobs: others end them all, each with its effects once', async () => {
  const { jobs, db, worker } = await createPlace()
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
  const effects = db.prepare('select job, count(*) as times from effects group by job order by job').all()
  expect(effects.map(({ job, times }) => [job, times])).toEqual(results.map(({ id }) => [id, 1]).sort())
  for (const { attempt, maxAttempts } of (await jobs.list({}, { limit: JOBS })).jobs) expect(attempt).toBeLessThanOrEqual(maxAttempts)
  expect(db.prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  for (const survivor of survivors) {
    expect(await survivor.end()).toBe(0)
    expect(survivor.count('unhandled') + survivor.count('warning')).toBe(0)
  }
})

it('[I8] a job whose workers are killed each time ends dead when its attempts are used up', async () => {
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
