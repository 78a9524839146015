import type { Case } from './case.ts'
import { type Crew, startCrew } from './crew.ts'
import type { DrainAssignment, Drained } from './drain-part.ts'
import { emptyLog, openDb, single } from './driver.ts'
import { type Figure, mustBe } from './figures.ts'
import { fillFile } from './fill.ts'
import { withFile } from './folder.ts'
import { openClient } from './library.ts'
import { alternate, type Side } from './sides.ts'
import type { Sizes } from './sizes.ts'
import { THROUGHPUT, throughputOf } from './throughput.ts'
import { nowMs, wait } from './time.ts'

/** How a drain is done. */
interface Drain {
  readonly processes: number
  /** With the history of completed jobs. */
  readonly keep: boolean
  /** By processes that have just been started, with none of their code compiled yet. */
  readonly cold?: boolean
}

/** One worker process drains everything. */
export const drainOne: Case = drainCase('drain', 'drain, 1 process', { processes: 1, keep: false })
/** Four worker processes drain everything. */
export const drainFour: Case = drainCase('drain-4', 'drain, 4 processes', { processes: 4, keep: false })
/** One worker process that has just been started drains everything. */
export const drainOneCold: Case = drainCase('drain-cold', 'drain, 1 process, just started', { processes: 1, keep: false, cold: true })
/** Four worker processes that have just been started drain everything. */
export const drainFourCold: Case = drainCase('drain-4-cold', 'drain, 4 processes, just started', { processes: 4, keep: false, cold: true })
/** One worker process drains everything into the history. */
export const drainKept: Case = drainCase('drain-history', 'drain, history kept', { processes: 1, keep: true })

function drainCase(name: string, title: string, drain: Drain): Case {
  return {
    name,
    table: THROUGHPUT,
    async run(sizes) {
      const sides = await alternate(title, sizes.rounds, (side) => withFile((file) => drainRound(side, file, sizes, drain)))
      return throughputOf(title, sides, drain.keep || drain.cold ? undefined : { atLeast: 0.5 })
    },
  }
}

/** A {@link Figure}, and what each process has run. */
interface DrainFigure extends Figure {
  readonly ran: readonly number[]
}

async function drainRound(side: Side, file: string, { drainJobs: jobs, warmUpJobs }: Sizes, drain: Drain): Promise<DrainFigure> {
  const { processes, keep, cold } = drain
  await fillFile(side, file, { due: jobs, future: 0, keep })
  emptyLog(file)
  const assignment: DrainAssignment = { side, file, keep, ...(cold ? {} : { warmUp: warmUpJobs }) }
  const crew = await startCrew<Drained>('drain', assignment, processes)
  const startedAt = nowMs()
  crew.tell('go')
  const tookMs = (await emptyAt(side, file, crew)) - startedAt
  crew.tell('stop')
  const reports = await crew.reports
  const ran = reports.map((report) => report.ran)
  const total = ran.reduce((sum, one) => sum + one, 0)
  mustBe(`jobs that were run, by process ${ran.join(' + ')}, in all`, total, jobs)
  await CHECK[side](file, keep ? jobs : 0)
  return { perSecond: (jobs * 1_000) / tookMs, cpuMicros: reports.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) / jobs, ran }
}

// Everything is done when a connection that has no part in it sees nothing left: what it sees has been committed.
const LEFT = { library: 'select 1 from triphammer_jobs where ended_at is null limit 1', bare: 'select 1 from job limit 1' }
const LOOK_EVERY_MS = 5
const PATIENCE_MS = 600_000

async function emptyAt(side: Side, file: string, { reports }: Crew<Drained>): Promise<number> {
  const db = openDb(file)
  const look = db.prepare(LEFT[side])
  const giveUpAt = nowMs() + PATIENCE_MS
  let isOver = false
  const ended = reports.finally(() => {
    isOver = true
  })
  ended.catch(() => {}) // it is told by the next look, or to whoever waits for the reports
  try {
    while (look.all().length > 0) {
      if (nowMs() > giveUpAt) throw new Error(`jobs are left after ${PATIENCE_MS / 1_000} s`)
      await wait(LOOK_EVERY_MS)
      if (isOver) await ended
    }
    return nowMs()
  } finally {
    db.close()
  }
}

const CHECK = {
  async library(file: string, kept: number): Promise<void> {
    const jobs = await openClient(file)
    mustBe('jobs after the drain', await jobs.count(), kept)
    mustBe('completed jobs after the drain', await jobs.count({ state: 'completed' }), kept)
    await jobs.close()
  },
  async bare(file: string, kept: number): Promise<void> {
    const db = openDb(file)
    mustBe('rows of the bare loop after the drain', Number(single(db, 'select count(*) from job')), 0)
    mustBe('rows of the bare loop in its history', Number(single(db, 'select count(*) from history')), kept)
    db.close()
  },
}
