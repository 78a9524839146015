import type { Command } from 'commander'
import { STATES } from '../../../core/state.ts'
import type { CountKey } from '../../../index.ts'
import { addFilterOptions, type FilterFlags, filterOf } from '../../job-filter.ts'
import { table } from '../../table.ts'
import { addVerb, type CommandLine } from '../../verb.ts'

type Counts = readonly (readonly [value: string, count: number])[]

/** Adds `jobs count`. */
export function addJobsCount(jobs: Command, commandLine: CommandLine): void {
  addVerb<FilterFlags & { readonly by?: string }>(jobs, commandLine, {
    name: 'count',
    summary: 'how many jobs there are, by state or by something else if you say so',
    examples: ['triphammer jobs count --state pending', 'triphammer jobs count --by queue --state unsuccessful --ended-after 1d'],
    options: (command) => addFilterOptions(command).option('--by <what>', 'state, queue, task or priority'),
    async run({ open, print, world }, { by, ...flags }) {
      const client = open('look')
      const filter = filterOf(flags, world.clock)
      if (by === undefined) {
        const count = await client.count(filter)
        print({ count }, () => String(count))
        return undefined
      }
      // Text may be any: the library refuses what it cannot count by.
      const key = by as CountKey
      const counts = await client.countBy(key, filter)
      print({ by: key, counts }, () => countTable(key, Object.entries(counts)))
      return undefined
    },
  })
}

function countTable(key: CountKey, counts: Counts): string {
  return table(inOrder(key, counts), [
    { title: key, of: ([value]) => value },
    { title: 'jobs', align: 'right', of: ([, count]) => count },
  ])
}

function inOrder(key: CountKey, counts: Counts): Counts {
  if (key === 'state') return STATES.flatMap((state) => counts.filter(([value]) => value === state))
  if (key === 'priority') return counts.toSorted(([a], [b]) => Number(a) - Number(b))
  return counts.toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
}
