import type { Command } from 'commander'
import { TriphammerError } from '../core/errors.ts'
import type { JobFilterInput } from '../index.ts'
import { type FilterFlags, filterOf, isFiltered } from './job-filter.ts'
import type { World } from './world.ts'

/** The jobs that a command is about: those with these ids, or those that a filter finds. */
export type JobTarget = { readonly ids: readonly string[] } | { readonly filter: JobFilterInput }

/** Adds the argument that takes ids. */
export function addIds(command: Command, name: '<id...>' | '[id...]'): Command {
  return command.argument(name, 'ids of jobs; - reads them from standard input, one to a line')
}

/**
 * The ids among the arguments, with those of standard input in the place of `-`.
 *
 * @throws TriphammerError `INVALID_OPTION`: `-` twice
 */
export async function readIds(args: readonly string[], world: World): Promise<readonly string[]> {
  if (!args.includes('-')) return args
  if (args.indexOf('-') !== args.lastIndexOf('-')) {
    throw new TriphammerError('INVALID_OPTION', 'standard input can be read once; give - only once')
  }
  const lines = (await world.readInput()).split('\n').map((line) => line.trim())
  return args.flatMap((arg) => (arg === '-' ? lines.filter((line) => line !== '') : [arg]))
}

/**
 * What the arguments and options of a command come to.
 *
 * @throws TriphammerError `INVALID_OPTION`: neither ids nor a condition, or both
 */
export async function targetOf(args: readonly string[], flags: FilterFlags, world: World): Promise<JobTarget> {
  const filtered = isFiltered(flags)
  if (args.length > 0 && filtered) {
    throw new TriphammerError('INVALID_OPTION', 'ids and conditions exclude each other; give the ids alone, or the conditions alone')
  }
  if (args.length > 0) return { ids: await readIds(args, world) }
  if (filtered) return { filter: filterOf(flags, world.clock) }
  throw new TriphammerError('INVALID_OPTION', 'which jobs? Give ids, - for ids on standard input, conditions such as --queue, or --all')
}
