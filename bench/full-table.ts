import { statSync } from 'node:fs'
import { startCrew } from './crew.ts'
import type { DrainAssignment, Drained } from './drain-part.ts'
import { emptyLog, openDb, single } from './driver.ts'
import { type Figure, mustBe } from './figures.ts'
import { type Contents, fillFile } from './fill.ts'
import { withFile } from './folder.ts'
import { openClient } from './library.ts'
import type { Side } from './sides.ts'
import { nowMs } from './time.ts'

/** What filling came to. */
export interface Filled {
  readonly perSecond: number
  readonly tookMs: number
  readonly bytes: number
}

/** A drain of so many jobs out of a table. */
export interface PartDrained extends Figure {
  /** The worker may have begun some more before it stopped. */
  readonly ran: number
}

/** Fills a new file. */
export async function fill(side: Side, file: string, contents: Contents): Promise<Filled> {
  const startedAt = nowMs()
  await fillFile(side, file, contents)
  emptyLog(file)
  const tookMs = nowMs() - startedAt
  return { perSecond: ((contents.due + contents.future) * 1_000) / tookMs, tookMs, bytes: statSync(file).size }
}

/**
 * Drains so many jobs out of a table in a process of its own, measured from the word to begin to the moment the last of them runs:
 * what is written after that is in no figure, whether the table is empty then or not.
 */
export async function drainPartOf(side: Side, file: string, limit: number): Promise<PartDrained> {
  const assignment: DrainAssignment = { side, file, keep: false, limit }
  const crew = await startCrew<Drained>('drain', assignment)
  crew.tell('go')
  const [drained] = await crew.reports
  const { ran, tookMs, cpuMicros } = drained!
  return { perSecond: (limit * 1_000) / tookMs, cpuMicros: cpuMicros / limit, ran }
}

/** Drains a table that holds so many jobs and nothing else. */
export async function drainSmall(side: Side, count: number): Promise<PartDrained> {
  return withFile(async (file) => {
    await fill(side, file, { due: count, future: 0 })
    const drained = await drainPartOf(side, file, count)
    mustBe(`jobs of the small table that were run, ${side}`, drained.ran, count)
    await mustHold(side, file, 0)
    return drained
  })
}

/** Checks that a table holds so many jobs and that nobody has any of them. */
export async function mustHold(side: Side, file: string, count: number): Promise<void> {
  await HOLD[side](file, count)
}

const HOLD = {
  async library(file: string, count: number): Promise<void> {
    const jobs = await openClient(file)
    mustBe('pending jobs', await jobs.count({ state: 'pending' }), count)
    mustBe('jobs in all', await jobs.count(), count)
    await jobs.close()
  },
  async bare(file: string, count: number): Promise<void> {
    const db = openDb(file)
    mustBe('free rows', Number(single(db, 'select count(*) from job where token is null')), count)
    mustBe('rows in all', Number(single(db, 'select count(*) from job')), count)
    db.close()
  },
}
