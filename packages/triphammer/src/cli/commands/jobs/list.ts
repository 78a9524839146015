import type { Command } from 'commander'
import type { ListOptions } from '../../../index.ts'
import { wholeNumber } from '../../environment.ts'
import { addFilterOptions, type FilterFlags, filterOf } from '../../job-filter.ts'
import { jobTable } from '../../job-text.ts'
import { addVerb, type CommandLine } from '../../verb.ts'

interface ListFlags extends FilterFlags {
  readonly limit?: string
  readonly order?: string
  readonly after?: string
}

/** Adds `jobs list`. */
export function addJobsList(jobs: Command, commandLine: CommandLine): void {
  addVerb<ListFlags>(jobs, commandLine, {
    name: 'list',
    summary: 'a page of jobs, the newest first',
    examples: [
      'triphammer jobs list --queue mail --state unsuccessful',
      'triphammer jobs list --state pending --run-before 1h --order oldest',
      'triphammer jobs list --state dead --json --limit 1000',
    ],
    options: (command) =>
      addFilterOptions(command)
        .option('--limit <count>', 'jobs on the page: 100 unless you say so, at most 1000')
        .option('--order <order>', 'newest or oldest first')
        .option('--after <id>', 'the next page: the id that the page before told'),
    async run({ open, print, world, json }, { limit, order, after, ...flags }) {
      const options: ListOptions = {
        ...(limit === undefined ? {} : { limit: wholeNumber(limit, '--limit') }),
        ...(order === undefined ? {} : { order: order as NonNullable<ListOptions['order']> }),
        ...(after === undefined ? {} : { after }),
      }
      const page = await open('look').list(filterOf(flags, world.clock), options)
      print(page, () => (page.jobs.length === 0 ? 'There is no such job.' : jobTable(page.jobs, world.clock.now(), world.columns)))
      // Not among the jobs: whoever counts lines there counts jobs.
      if (page.next !== undefined && !json) world.err(`There may be more: --after ${page.next}\n`)
      return undefined
    },
  })
}
