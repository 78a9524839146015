import { join } from 'node:path'
import type { Case, Findings, Table } from './case.ts'
import { type Figure, show, showSpread, spread } from './figures.ts'
import type { Contents } from './fill.ts'
import { inFolder } from './folder.ts'
import { drainPartOf, drainSmall, type Filled, fill, mustHold, type PartDrained } from './full-table.ts'
import { progress } from './progress.ts'
import { judge, showVerdict } from './reach.ts'
import { ratios, type Side } from './sides.ts'
import type { Sizes } from './sizes.ts'

const TABLE: Table = {
  title: 'A full table: the same number of jobs drained out of a small table and out of a full one',
  head: ['', 'drained', 'jobs/s, small', 'jobs/s, full', 'full ÷ small', 'reach', 'CPU µs/job, small', 'CPU µs/job, full'],
}

/** Draining out of a table full of due jobs, with as many future jobs of a higher priority before them in the same queue. */
export const million: Case = {
  name: 'million',
  table: TABLE,
  async run(sizes) {
    const plans = plansOf(sizes)
    const rows = plans.reduce((sum, { contents: { due, future } }) => sum + due + future, 0)
    return inFolder(async (folder) => {
      const tables: FullTable[] = []
      for (const plan of plans) tables.push(await build(plan, join(folder, plan.name)))
      for (let round = 0; round < sizes.rounds; round++) {
        progress(`a full table, round ${round + 1} of ${sizes.rounds}`)
        for (const table of round % 2 === 0 ? tables : tables.toReversed()) table.rounds.push(await measureRound(table, round))
      }
      for (const table of tables) await checkRest(table)
      return findings(tables, sizes)
    }, rows * BYTES_A_JOB)
  },
}

// On disk a job of the library has 262 bytes and a row of the bare loop 214 (measured); the log comes to it.
const BYTES_A_JOB = 300

/** A full table that is measured. */
interface Plan {
  readonly name: string
  readonly title: string
  readonly side: Side
  readonly contents: Contents
  /** Jobs drained in a round. */
  readonly drained: number
}

// As many due jobs as are drained come on top, so that the table is full to the end. The bare loop walks over all future jobs at
// every claim: it drains a tenth, or it would take minutes, and has a table without them to show what the size alone costs.
function plansOf({ backlogJobs, drainJobs, rounds }: Sizes): readonly Plan[] {
  const plan = (name: string, title: string, side: Side, future: number, drained: number): Plan => ({
    ...{ name, title, side, drained },
    contents: { due: backlogJobs + rounds * drained, future },
  })
  return [
    plan('library', 'library', 'library', backlogJobs, drainJobs),
    plan('bare-due', 'bare loop, without the future jobs', 'bare', 0, drainJobs),
    plan('bare', 'bare loop', 'bare', backlogJobs, drainJobs / 10),
  ]
}

interface FullTable extends Plan {
  readonly file: string
  readonly filled: Filled
  readonly rounds: Round[]
}

/** A drain out of the small table and one out of the full one. */
interface Round {
  readonly small: PartDrained
  readonly full: PartDrained
}

async function build(plan: Plan, file: string): Promise<FullTable> {
  const { due, future } = plan.contents
  progress(`filling a table: ${plan.title}, ${show(due)} due and ${show(future)} future jobs`)
  return { ...plan, file, filled: await fill(plan.side, file, plan.contents), rounds: [] }
}

async function measureRound({ side, file, drained }: FullTable, round: number): Promise<Round> {
  if (round % 2 === 0) return { small: await drainSmall(side, drained), full: await drainPartOf(side, file, drained) }
  const full = await drainPartOf(side, file, drained)
  return { small: await drainSmall(side, drained), full }
}

// What has run is gone, once each, and everything else is still there.
async function checkRest({ side, file, contents: { due, future }, rounds }: FullTable): Promise<void> {
  const ran = rounds.reduce((sum, { full }) => sum + full.ran, 0)
  await mustHold(side, file, due + future - ran)
}

function findings(tables: readonly FullTable[], { backlogJobs }: Sizes): Findings {
  const raw = tables.map(({ file, ...table }) => ({ ...table, ratio: spread(ratioOf(table.rounds)) }))
  const verdict = judge(raw[0]!.ratio.median, { atLeast: 0.9 })
  const filling = tables.map(({ title, filled: { tookMs, perSecond, bytes } }) => {
    return `${title} ${show(tookMs / 1_000)} s (${show(perSecond)} jobs/s, ${show(bytes / 1e6)} MB)`
  })
  return {
    rows: tables.map((table, i) => rowOf(table, i === 0 ? showVerdict(verdict, 2) : '')),
    notes: [
      `Small: a table that holds the jobs that are drained and nothing else. Full: as many out of a table in which ${show(backlogJobs)} ` +
        `due jobs stand behind them and ${show(backlogJobs)} of a higher priority, due tomorrow, before them.`,
      `Filling: ${filling.join('; ')}.`,
    ],
    raw: { tables: raw, verdict },
  }
}

function rowOf({ title, drained, rounds }: FullTable, reach: string): string[] {
  const [small, full] = [rounds.map((round) => round.small), rounds.map((round) => round.full)]
  const speed = ({ perSecond }: Figure): number => perSecond
  const cpu = ({ cpuMicros }: Figure): number => cpuMicros
  return [
    title,
    show(drained),
    ...[showSpread(small.map(speed)), showSpread(full.map(speed)), showSpread(ratioOf(rounds), 2), reach],
    ...[showSpread(small.map(cpu), 1), showSpread(full.map(cpu), 1)],
  ]
}

function ratioOf(rounds: readonly Round[]): number[] {
  return ratios(
    rounds.map(({ full }) => full),
    rounds.map(({ small }) => small),
    ({ perSecond }) => perSecond,
  )
}
