import { expect, it } from 'vitest'
import { createPlace, TIME, until, work } from './processes.ts'

const JOBS = 5

it('[I1] [I3] a worker that is suspended for longer than its lease learns that it lost all, and writes nothing', TIME, async () => {
  const { jobs, db, worker } = await createPlace()
  const sleeper = worker('waits')
  const results = await jobs.enqueueMany(work, Array.from({ length: JOBS }))
  // One job runs, the others are held.
  await until(async () => sleeper.count('started') === 1 && (await jobs.count({ state: 'running' })) === JOBS)
  sleeper.child.kill('SIGSTOP')
  const other = worker('works')
  await until(async () => (await jobs.count({ state: 'completed' })) === JOBS)
  expect(sleeper.lines.map(({ what }) => what)).toEqual(['up', 'started'])

  sleeper.child.kill('SIGCONT')
  await until(() => sleeper.count('aborted') === 1)
  sleeper.child.kill('SIGUSR2')
  await until(() => sleeper.count('lost') === JOBS)
  const [running] = sleeper.lines.filter(({ what }) => what === 'started')
  expect(sleeper.lines).toContainEqual({ what: 'aborted', id: running!.id, code: 'LEASE_LOST' })
  expect(sleeper.lines).toContainEqual({ what: 'refused', id: running!.id, code: 'LEASE_LOST' })
  expect(sleeper.count('started')).toBe(1)

  const effects = db.prepare('select job, pid from effects order by job').all()
  expect(effects.map(({ job, pid }) => [job, pid])).toEqual(results.map(({ id }) => [id, other.child.pid]).sort())
  expect(await jobs.countBy('state')).toEqual({ completed: JOBS })

  // It is as good as new.
  const { id } = await jobs.enqueue(work, undefined)
  await until(async () => (await jobs.get(id))?.state === 'completed')
  expect([await sleeper.end(), await other.end()]).toEqual([0, 0])
  expect(await jobs.workers()).toEqual([])
})

it('[I3] a worker that is suspended while nobody else is there takes its jobs up again and runs each once', TIME, async () => {
  const { jobs, db, worker } = await createPlace()
  const sleeper = worker('waits')
  await jobs.enqueueMany(work, Array.from({ length: JOBS }))
  await until(async () => sleeper.count('started') === 1 && (await jobs.count({ state: 'running' })) === JOBS)
  sleeper.child.kill('SIGSTOP')
  const leasesEnd = Math.max(...(await jobs.list({ state: 'running' })).jobs.map(({ leaseUntil }) => leaseUntil!.getTime()))
  await until(() => Date.now() > leasesEnd + 500)
  sleeper.child.kill('SIGCONT')
  sleeper.child.kill('SIGUSR2')
  await until(async () => (await jobs.count({ state: 'completed' })) === JOBS)
  expect(sleeper.count('started')).toBe(JOBS)
  expect(sleeper.count('lost')).toBe(0)
  expect((await jobs.list()).jobs.map(({ attempt }) => attempt)).toEqual(Array.from({ length: JOBS }, () => 1))
  expect(db.prepare('select count(*) as effects from effects').all()).toMatchObject([{ effects: JOBS }])
  expect(await sleeper.end()).toBe(0)
})

it('[I1] [I10] what a suspended worker says late does not touch the run that another has begun', TIME, async () => {
  const { jobs, db, worker } = await createPlace()
  const sleeper = worker('waits')
  const { id } = await jobs.enqueue(work, undefined)
  await until(() => sleeper.count('started') === 1)
  sleeper.child.kill('SIGSTOP')
  const other = worker('waits')
  await until(() => other.count('started') === 1)
  sleeper.child.kill('SIGCONT')
  sleeper.child.kill('SIGUSR2')
  await until(() => sleeper.count('lost') === 1)
  expect(sleeper.lines).toContainEqual({ what: 'refused', id, code: 'LEASE_LOST' })
  expect(await jobs.get(id)).toMatchObject({ state: 'running', attempt: 2 })
  expect(db.prepare('select * from effects').all()).toEqual([])

  other.child.kill('SIGUSR2')
  await until(async () => (await jobs.get(id))?.state === 'completed')
  expect(db.prepare('select * from effects').all()).toMatchObject([{ job: id, pid: other.child.pid }])
  expect([await sleeper.end(), await other.end()]).toEqual([0, 0])
})
