import { createClient } from 'triphammer'
import { memory } from 'triphammer/memory'
import type { Case, Table } from './case.ts'
import { bareRound, libraryRound, type Place, type Rates, WAYS } from './claim-rounds.ts'
import { showSpread } from './figures.ts'
import { withFile } from './folder.ts'
import { openClient } from './library.ts'
import { progress } from './progress.ts'
import { alternate, ratios, type Sides } from './sides.ts'

const TABLE: Table = {
  title: 'Single claims against batches',
  head: ['', 'claims alone, jobs/s', '× single', 'claimed and finished, jobs/s', '× single', 'bare jobs/s', 'library ÷ bare'],
}

/** Claims by hand and workers on SQLite, one job at a time and in batches. */
export const claimsSqlite: Case = {
  name: 'claims-sqlite',
  table: TABLE,
  async run({ rounds, claimJobs }) {
    const sides = await alternate('claims on SQLite', rounds, (side) =>
      side === 'library' ? libraryRound(onSqlite, claimJobs) : bareRound(claimJobs),
    )
    return { rows: rowsOf('SQLite', sides), raw: { ways: WAYS, ...sides } }
  },
}

/** The same in memory, where there is no driver and so no bare loop. */
export const claimsMemory: Case = {
  name: 'claims-memory',
  table: TABLE,
  async run({ rounds, claimJobs }) {
    const library: (readonly Rates[])[] = []
    for (let round = 0; round < rounds; round++) {
      progress(`claims in memory, round ${round + 1} of ${rounds}`)
      library.push(await libraryRound(inMemory, claimJobs))
    }
    return { rows: rowsOf('memory', { library, bare: [] }), raw: { ways: WAYS, library } }
  },
}

const onSqlite: Place = (act) =>
  withFile(async (file) => {
    const jobs = await openClient(file)
    const value = await act(jobs)
    await jobs.close()
    return value
  })

const inMemory: Place = async (act) => {
  const jobs = createClient({ store: memory() })
  const value = await act(jobs)
  await jobs.close()
  return value
}

function rowsOf(store: string, { library, bare }: Sides<readonly Rates[]>): string[][] {
  return WAYS.map((way, i) => {
    const first = WAYS.findIndex(({ concurrency }) => (concurrency === undefined) === (way.concurrency === undefined))
    const rounds = library.map((rates) => rates[i]!)
    const firsts = library.map((rates) => rates[first]!)
    const bareRounds = bare.map((rates) => rates[i]!)
    const cells = (value: (rates: Rates) => number): string[] => [
      showSpread(rounds.map(value)),
      i === first ? '' : showSpread(ratios(rounds, firsts, value), 2),
    ]
    const done = ({ done }: Rates): number => done
    return [
      `${store}, ${way.title}`,
      ...(rounds[0]!.claimed === undefined ? ['', ''] : cells(({ claimed }) => claimed!)),
      ...cells(done),
      ...(bareRounds.length === 0 ? ['', ''] : [showSpread(bareRounds.map(done)), showSpread(ratios(rounds, bareRounds, done), 2)]),
    ]
  })
}
