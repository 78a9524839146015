import { expect, it } from 'vitest'
import { runChild } from '../sqlite/place.ts'
import { createPlace, plain, until, type WorkerProcess, work } from './processes.ts'

const LOCK_MS = 20_000
const JOBS = 60

const HOLDER = `
  await sqlite(args[0]).transaction(async () => {
    console.log('locked')
    await new Promise((resolve) => process.stdin.once('data', resolve))
  })
  process.exit()`

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function startsOf(workers: readonly WorkerProcess[], ids: ReadonlySet<string>): string[] {
  return workers.flatMap(({ lines }) => lines.flatMap(({ what, id }) => (what === 'started' && ids.has(id!) ? [id!] : []))).sort()
}

async function outlast(lease: number): Promise<void> {
  const { file, jobs, db, worker, effects, finishes } = await createPlace()
  const options = { lease, queues: { default: { concurrency: 4, prefetch: 8 } } }
  const workers = [worker('waits', options), worker('waits', options)]
  await until(() => workers.every((one) => one.count('up') === 1))
  const plains = (await jobs.enqueueMany(plain, Array.from({ length: JOBS }))).map(({ id }) => id)
  // Of each, four run and four are held.
  await until(async () => workers.every((one) => one.count('started') === 4) && (await jobs.count({ state: 'running' })) === 16)
  const holder = runChild(HOLDER, [file])
  await holder.line('locked')
  const lockedAt = Date.now()
  // What runs ends now, and cannot be told for 20 s.
  for (const { child } of workers) child.kill('SIGUSR2')

  // Whoever enqueues waits for 5 s.
  await expect(jobs.enqueue(plain, undefined)).rejects.toMatchObject({ code: 'STORE_BUSY' })
  expect(Date.now() - lockedAt).toBeGreaterThanOrEqual(5_000)
  expect(await jobs.count()).toBe(JOBS)
  await sleep(lockedAt + LOCK_MS - 2_500 - Date.now())
  const late = jobs.enqueueMany(plain, [undefined, undefined])
  await sleep(lockedAt + LOCK_MS - Date.now())
  holder.send('enough')
  plains.push(...(await late).map(({ id }) => id))

  await until(async () => (await jobs.count({ state: 'completed' })) === plains.length, 60_000)
  plains.sort()
  expect(finishes()).toEqual(plains)
  for (const { attempt } of (await jobs.list({}, { limit: 1_000 })).jobs) expect(attempt).toBe(1)

  // They are as good as new.
  const works = (await jobs.enqueueMany(work, Array.from({ length: 10 }))).map(({ id }) => id)
  await until(async () => (await jobs.count({ state: 'completed' })) === plains.length + works.length)
  expect(effects()).toEqual(works.sort())
  expect(db.prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  await until(() => workers.every((one) => one.count('unavailable') > 0 && one.count('available') === one.count('unavailable')))
  for (const one of workers) {
    expect(await one.end()).toBe(0)
    expect(one.count('lost')).toBe(0)
  }
  expect(startsOf(workers, new Set(plains)), `lease ${lease}`).toEqual(plains)
}

it('[I3] [I8] a lock of 20 s by another process: nothing is taken from anyone nor run twice, be the lease shorter or longer', {
  timeout: 180_000,
}, async () => {
  // At the same time: what takes so long is the lock.
  await Promise.all([outlast(5_000), outlast(60_000)])
})
