import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { TriphammerError } from '../../core/errors.ts'
import { DEFAULT_FILE } from '../../index.ts'
import { sqlite } from '../../sqlite.ts'
import { wholeNumber } from '../environment.ts'
import { type Measured, measure } from '../measure.ts'
import { showProgress } from '../progress.ts'
import { parseStoreUrl } from '../store-url.ts'
import { table } from '../table.ts'
import { addVerb, type CommandLine, type Run } from '../verb.ts'

interface Flags {
  readonly jobs?: string
  readonly folder?: string
}

/** Adds `bench`. */
export function addBench(program: Command, commandLine: CommandLine): void {
  addVerb<Flags>(program, commandLine, {
    name: 'bench',
    summary: 'measure how fast this machine and this disk are, on a database of its own beside the one that is named',
    examples: ['triphammer bench', 'triphammer bench --jobs 50000 --store "sqlite:app.db?synchronous=normal"', 'triphammer bench --json'],
    options: (command) =>
      command
        .option('--jobs <count>', 'jobs of the large cases, 1000 to 1000000', '10000')
        .option('--folder <path>', 'where the database of the measurement is made; by default beside that of the store'),
    async run(run, { jobs = '10000', folder }) {
      const count = wholeNumber(jobs, '--jobs')
      if (count < 1_000 || count > 1_000_000) throw new TriphammerError('INVALID_OPTION', `--jobs: ${count} is not from 1000 to 1000000`)
      const { measured, place } = await measureBeside(run, count, folder)
      const conditions = { node: process.version, cores: availableParallelism(), load: Number(loadavg()[0]!.toFixed(2)), ...place }
      run.print({ ...measured, conditions }, () => textOf(measured, conditions))
      return undefined
    },
  })
}

interface Place {
  readonly folder: string
  readonly synchronous: string
}

async function measureBeside(
  { world, settings }: Run,
  jobs: number,
  named: string | undefined,
): Promise<{ readonly measured: Measured; readonly place: Place }> {
  const { store, folder: home } = settings
  const { path, options } = parseStoreUrl(typeof store === 'string' ? store : DEFAULT_FILE)
  const parent = named === undefined ? placeOf(resolve(home, dirname(path)), home) : resolve(world.cwd, named)
  const ending = new AbortController()
  const forget = world.onSignal(() => ending.abort(new TriphammerError('CANCELLED', 'the measurement was ended; its database is removed')))
  const progress = showProgress(world, '% measured', 100)
  const folder = await mkdtemp(join(parent, 'triphammer-bench-'))
  const bench = sqlite(join(folder, 'bench.db'), options)
  try {
    const reached = (share: number): void => progress.reach(Math.round(share * 100))
    const measured = await measure({ store: bench, clock: world.clock, jobs, reached, signal: ending.signal })
    return { measured, place: { folder: parent, synchronous: options.synchronous ?? 'full' } }
  } finally {
    progress.end()
    forget()
    await bench.close()
    await rm(folder, { recursive: true, force: true })
  }
}

// The folder of a database that is not there yet may not be there either.
function placeOf(folder: string, home: string): string {
  return [folder, home].find((path) => existsSync(path)) ?? tmpdir()
}

function textOf({ rates, pickUp }: Measured, { node, cores, load, folder, synchronous }: Place & Conditions): string {
  const figures = table(rates, [
    { title: 'what', of: ({ what }) => what },
    { title: 'jobs', align: 'right', of: ({ jobs }) => jobs.toLocaleString('en') },
    { title: 'jobs/s', align: 'right', of: ({ perSecond }) => perSecond.toLocaleString('en') },
  ])
  return [
    figures,
    '',
    `From enqueue to handler: p50 ${pickUp.p50} ms, p95 ${pickUp.p95} ms, most ${pickUp.most} ms, of ${pickUp.jobs} jobs in this process.`,
    `SQLite in ${folder}, synchronous ${synchronous}, ${node}, ${cores} cores, load ${load}; handlers that do nothing.`,
  ].join('\n')
}

interface Conditions {
  readonly node: string
  readonly cores: number
  readonly load: number
}
