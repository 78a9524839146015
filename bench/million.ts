import { statSync } from 'node:fs'
import { createBare, insertBare } from './bare.ts'
import type { Case, Findings, Table } from './case.ts'
import { startCrew } from './crew.ts'
import type { DrainAssignment, Drained } from './drain-part.ts'
import { openDb, single } from './driver.ts'
import { type Figure, mustBe, show, showSpread, spread } from './figures.ts'
import { inFolder } from './folder.ts'
import { enqueueInBulk, openClient, retention } from './library.ts'
import { progress } from './progress.ts'
import { judge, showVerdict } from './reach.ts'
import { alternate, ratios, type Side, type Sides } from './sides.ts'
import type { Sizes } from './sizes.ts'
import { nowMs } from './time.ts'

const TABLE: Table = {
  title: 'A full table: the same number of jobs drained out of a small table and out of a full one',
  head: ['', 'jobs/s, small', 'jobs/s, full', 'full ÷ small', 'reach', 'CPU µs/job, small', 'CPU µs/job, full'],
}

// Measured: 380 bytes a job on disk for the library, log included. Twice that, and room for the log of a checkpoint.
const BYTES_A_JOB = 800

/** Draining out of a table full of due jobs, with as many future jobs of a higher priority before them in the same queue. */
export const million: Case = {
  name: 'million',
  table: TABLE,
  async run(sizes) {
    const full = { backlog: sizes.backlogJobs, due: sizes.backlogJobs + sizes.rounds * sizes.drainJobs }
    return inFolder(
      (library) =>
        inFolder(async (bare) => {
          const files = { library, bare }
          const filled = { library: await fill('library', library, full), bare: await fill('bare', bare, full) }
          const sides = await alternate(TABLE.title, sizes.rounds, (side) => round(side, files[side], sizes))
          await checkRest(sides, files, full)
          return findings(sides, filled, sizes)
        }),
      (full.due + full.backlog) * 2 * BYTES_A_JOB,
    )
  },
}

/** What stands in the full table at first. */
interface Full {
  readonly due: number
  readonly backlog: number
}

/** What filling came to. */
interface Filled {
  readonly perSecond: number
  readonly tookMs: number
  readonly bytes: number
}

const DAY_MS = 86_400_000

async function fill(side: Side, file: string, full: Full): Promise<Filled> {
  progress(`filling a table with ${show(full.due)} due and ${show(full.backlog)} future jobs, ${side}`)
  const startedAt = nowMs()
  await FILL[side](file, full)
  const tookMs = nowMs() - startedAt
  return { perSecond: ((full.due + full.backlog) * 1_000) / tookMs, tookMs, bytes: statSync(file).size }
}

const FILL = {
  async library(file: string, { due, backlog }: Full): Promise<void> {
    const jobs = await openClient(file)
    await enqueueInBulk(jobs, due, retention(false))
    await enqueueInBulk(jobs, backlog, { ...retention(false), priority: 'high', delay: '1d' })
    await jobs.close()
  },
  async bare(file: string, { due, backlog }: Full): Promise<void> {
    const db = createBare(file)
    insertBare(db, { count: due, inOne: 1_000 })
    insertBare(db, { count: backlog, inOne: 1_000, priority: -10, runAt: Date.now() + DAY_MS })
    db.close()
  },
}

/** A drain out of the small table and one out of the full one. */
interface Round {
  readonly small: DrainFigure
  readonly full: DrainFigure
}
interface DrainFigure extends Figure {
  readonly ran: number
}

async function round(side: Side, fullFile: string, { drainJobs }: Sizes): Promise<Round> {
  const small = await inFolder(async (file) => {
    await FILL[side](file, { due: drainJobs, backlog: 0 })
    const figure = await drain(side, file, drainJobs)
    mustBe(`jobs of the small table that ${side} has run`, figure.ran, drainJobs)
    mustBe(`jobs left in the small table, ${side}`, await COUNT[side](file), 0)
    return figure
  })
  return { small, full: await drain(side, fullFile, drainJobs) }
}

// Both are measured to the same point: the moment the last of so many jobs runs. What ends after that is in neither figure.
async function drain(side: Side, file: string, limit: number): Promise<DrainFigure> {
  const assignment: DrainAssignment = { side, file, keep: false, limit }
  const crew = await startCrew<Drained>('drain', assignment)
  crew.tell('go')
  const [{ ran, tookMs, cpuMicros }] = (await crew.reports) as [Drained]
  return { perSecond: (limit * 1_000) / tookMs, cpuMicros: cpuMicros / limit, ran }
}

const COUNT = {
  async library(file: string): Promise<number> {
    const jobs = await openClient(file)
    const count = await jobs.count({ state: 'pending' })
    mustBe('jobs that a worker left running', await jobs.count({ state: 'running' }), 0)
    await jobs.close()
    return count
  },
  async bare(file: string): Promise<number> {
    const db = openDb(file)
    const count = Number(single(db, 'select count(*) from job where token is null'))
    db.close()
    return count
  },
}

// What has run is gone, once, and everything else is still there.
async function checkRest(sides: Sides<Round>, files: Readonly<Record<Side, string>>, { due, backlog }: Full): Promise<void> {
  for (const side of ['library', 'bare'] as const) {
    const ran = sides[side].reduce((sum, { full }) => sum + full.ran, 0)
    mustBe(`jobs left in the full table, ${side}`, await COUNT[side](files[side]), due + backlog - ran)
  }
}

function findings(sides: Sides<Round>, filled: Readonly<Record<Side, Filled>>, { backlogJobs, drainJobs }: Sizes): Findings {
  const library = lineOf(sides.library)
  const bare = lineOf(sides.bare)
  const verdict = judge(spread(library.ratio).median, { atLeast: 0.9 })
  const filling = (side: Side): string => {
    const { perSecond, tookMs, bytes } = filled[side]
    return `${show(tookMs / 1_000)} s (${show(perSecond)} jobs/s, ${show(bytes / 1e6)} MB)`
  }
  return {
    rows: [
      ['library', ...library.speeds, showVerdict(verdict, 2), ...library.cpu],
      ['bare loop', ...bare.speeds, '', ...bare.cpu],
    ],
    notes: [
      `Small: a table of the ${show(drainJobs)} jobs that are drained and nothing else. Full: as many out of a table that keeps ` +
        `${show(backlogJobs)} due jobs behind them and ${show(backlogJobs)} of a higher priority, due tomorrow, before them.`,
      `Filling the full table: library ${filling('library')}, bare ${filling('bare')}.`,
    ],
    raw: { ...sides, filled, ratio: { library: spread(library.ratio), bare: spread(bare.ratio) }, verdict },
  }
}

interface Line {
  readonly ratio: readonly number[]
  readonly speeds: readonly string[]
  readonly cpu: readonly string[]
}

function lineOf(rounds: readonly Round[]): Line {
  const [small, full] = [rounds.map((one) => one.small), rounds.map((one) => one.full)]
  const speed = ({ perSecond }: Figure): number => perSecond
  const cpu = ({ cpuMicros }: Figure): number => cpuMicros
  const ratio = ratios(full, small, speed)
  return {
    ratio,
    speeds: [showSpread(small.map(speed)), showSpread(full.map(speed)), showSpread(ratio, 2)],
    cpu: [showSpread(small.map(cpu), 1), showSpread(full.map(cpu), 1)],
  }
}
