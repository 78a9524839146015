import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, type Job } from 'triphammer'
import { memory } from 'triphammer/memory'
import { createWorker, type Worker } from 'triphammer/worker'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHandlers, STATE_FOLDER } from './handlers.ts'
import type { Summary } from './report.ts'
import { type DemoRun, joinRun } from './runs.ts'
import { scanFolder, writeReport } from './tasks.ts'
import { tempFolder } from './test/odd-tree.ts'

let root: string
let output: string
beforeEach(() => {
  root = tempFolder()
  output = join(root, 'report.json')
  mkdirSync(join(root, STATE_FOLDER))
  for (const name of ['a.txt', 'b.txt', 'c.txt']) writeFileSync(join(root, name), name)
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

const setUp = () => {
  const store = memory()
  const jobs = createClient({ store, logger: false })
  const handlers = createHandlers({ jobs, output })
  const workerOf = (run: DemoRun, only = handlers): Worker =>
    createWorker({ store, handlers: only, queues: { [run.queue]: 4 }, poll: '20ms', logger: false })

  /** The files are known to be there, and nothing has looked at them yet. */
  const scanOnly = async (run: DemoRun): Promise<void> => {
    await workerOf(
      run,
      handlers.filter(({ task }) => task.name === scanFolder.name),
    ).runOnce()
  }
  /** Works until the report is there or the run has failed. */
  const finish = async (run: DemoRun, worker = workerOf(run)): Promise<Job> => {
    const ended = new Promise<void>((resolve) => {
      for (const type of ['job.completed', 'job.dead'] as const) {
        worker.on(type, ({ job }) => {
          if (job.task === writeReport.name) resolve()
        })
      }
    })
    await worker.start()
    await ended
    await worker.stop()
    return (await jobs.get(run.reportId))!
  }
  return { jobs, workerOf, scanOnly, finish }
}

describe('the jobs of a run', () => {
  it('try again a file that vanished and came back', async () => {
    const { jobs, workerOf, scanOnly, finish } = setUp()
    const { run } = await joinRun(jobs, root)
    await scanOnly(run)
    renameSync(join(root, 'b.txt'), join(root, 'away'))
    const worker = workerOf(run)
    const codes: unknown[] = []
    worker.on('job.retrying', ({ error }) => {
      codes.push(error.code)
      renameSync(join(root, 'away'), join(root, 'b.txt'))
    })
    const { result } = await finish(run, worker)
    expect(codes).toEqual(['ENOENT'])
    expect(result).toMatchObject({ totals: { files: 3, failed: 0 }, run: { retriedJobs: 1 } })
  })

  it('give up a file that stays away, with the reason', async () => {
    const { jobs, scanOnly, finish } = setUp()
    const { run } = await joinRun(jobs, root)
    await scanOnly(run)
    rmSync(join(root, 'b.txt'))
    const { result } = await finish(run)
    expect((result as Summary).failures).toEqual([{ path: 'b.txt', reason: 'ENOENT: no such file or directory (lstat)', attempts: 4 }])
    expect(result).toMatchObject({ totals: { files: 2, failed: 1 } })
  })

  it('list nothing twice when the scan is repeated', async () => {
    const { jobs, scanOnly, finish } = setUp()
    const { run } = await joinRun(jobs, root)
    await scanOnly(run)
    await jobs.delete(run.scanId)
    expect(await joinRun(jobs, root)).toEqual({ run, resumed: false })
    const { result } = await finish(run)
    expect(result).toMatchObject({ totals: { files: 3 } })
    expect(await jobs.count({ queue: run.queue })).toBe(5)
  })

  it('end in a failed run when the folder itself is gone, and begin again when it is back', async () => {
    const { jobs, finish } = setUp()
    const gone = join(root, 'gone')
    const { run } = await joinRun(jobs, gone)
    const failed = await finish(run)
    expect(failed).toMatchObject({ state: 'dead', error: { message: expect.stringContaining('could not be scanned: ENOENT') } })

    renameSync(join(root, 'a.txt'), gone) // a file in its place is no better, and ends the same way
    expect(await joinRun(jobs, gone)).toEqual({ run, resumed: true })
    expect((await finish(run)).error?.message).toContain('ENOTDIR')
  })
})

describe('the id of a run', () => {
  it('is the same for all until the report is written, and its folder’s own', async () => {
    const { jobs, finish } = setUp()
    const first = await joinRun(jobs, root)
    expect(first.resumed).toBe(false)
    expect(await joinRun(jobs, root)).toEqual({ run: first.run, resumed: true })
    const other = await joinRun(jobs, `${root}/.`)
    expect(other.run.id).not.toBe(first.run.id)
    await finish(first.run)
    const next = await joinRun(jobs, root)
    expect(next).toMatchObject({ resumed: false, run: { number: 2 } })
  })
})
