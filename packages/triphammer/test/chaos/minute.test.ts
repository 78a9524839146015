import { expect, it } from 'vitest'
import { createPlace, plain, until, type WorkerProcess, work } from './processes.ts'

const JOBS = 5_000
const KILLS = 60
const WORKERS = 4
const PREFETCH = 8
// Long enough that no live worker ever misses its own on a busy machine: then only those that were killed cost an attempt.
const OPTIONS = { lease: 10_000, queues: { default: { concurrency: 4, prefetch: PREFETCH } } }

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))

// Numbers from 0 to 1 that are the same for the same seed (mulberry32).
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

it('[W1] [I8] [I10] four workers, of which one is killed each second for a minute: every job of 5,000 is done, none is finished twice', {
  timeout: 900_000,
}, async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  console.log(`the seed of the kills: ${seed}; SEED=${seed} repeats them`)
  const random = randomFrom(seed)
  const { jobs, db, worker, effects, finishes } = await createPlace()
  const all: WorkerProcess[] = []
  const start = (): WorkerProcess => {
    const one = worker('works', OPTIONS)
    all.push(one)
    return one
  }
  const alive = Array.from({ length: WORKERS }, start)
  const begunAt = Date.now()
  const ids = { work: [] as string[], plain: [] as string[] }

  const enqueue = async (): Promise<void> => {
    while (ids.work.length + ids.plain.length < JOBS) {
      const left = JOBS - ids.work.length - ids.plain.length
      const size = Math.min(left, 1 + Math.floor(random() * 20))
      const task = random() < 0.5 ? work : plain
      for (const { id } of await jobs.enqueueMany(task, Array.from({ length: size }))) ids[task.name as 'work' | 'plain'].push(id)
      // Evenly over the minute: that many have been due by now.
      await sleep(begunAt + ((JOBS - left) / JOBS) * KILLS * 1_000 - Date.now())
    }
  }
  const kill = async (): Promise<void> => {
    for (let second = 0; second < KILLS; second++) {
      await sleep(begunAt + (second + random()) * 1_000 - Date.now())
      const at = Math.floor(random() * WORKERS)
      alive[at]!.child.kill('SIGKILL')
      alive[at] = start()
    }
  }
  await Promise.all([enqueue(), kill()])
  // However slow the machine: it is enough that it goes on.
  for (let done = -1, before = -1; done < JOBS; before = done) {
    await until(async () => {
      done = await jobs.count({ state: 'completed' })
      return done > before
    })
  }

  expect(await jobs.countBy('state')).toEqual({ completed: JOBS })
  expect(effects()).toEqual(ids.work.sort())
  expect(finishes()).toEqual([...ids.work, ...ids.plain].sort())
  const [attempts] = db.prepare('select sum(attempt) - count(*) as extra, max(attempt) as most from triphammer_history').all()
  // Each that was killed took at most what it held, and no attempt was made for any other reason.
  expect(attempts!['extra']).toBeGreaterThan(0)
  expect(attempts!['extra']).toBeLessThanOrEqual(KILLS * PREFETCH)
  expect(attempts!['most']).toBeLessThanOrEqual(25)
  expect(db.prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  for (const one of alive) {
    expect(await one.end()).toBe(0)
    expect([one.count('lost'), one.count('unhandled'), one.count('warning')]).toEqual([0, 0, 0])
  }
  const told = all.flatMap(({ lines }) => lines.flatMap(({ what, id }) => (what === 'completed' ? [id!] : [])))
  expect(new Set(told).size).toBe(told.length)
})
