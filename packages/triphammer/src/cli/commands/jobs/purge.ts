import type { Command } from 'commander'
import { parseDuration } from '../../../core/duration.ts'
import { TriphammerError } from '../../../core/errors.ts'
import { isFinal, STATES } from '../../../core/state.ts'
import type { JobFilterInput } from '../../../index.ts'
import { addFilterOptions, filterOf } from '../../job-filter.ts'
import { addVerb, type CommandLine } from '../../verb.ts'
import type { World } from '../../world.ts'
import { addDryRun, type ChangeFlags, type Effect, runEffect } from './change.ts'

interface PurgeFlags extends ChangeFlags {
  readonly olderThan?: string
}

const PURGE: Effect<PurgeFlags> = {
  done: 'purged',
  from: isFinal,
  apply: (client, target) => client.delete(target),
}

/** Adds `jobs purge`. */
export function addJobsPurge(jobs: Command, commandLine: CommandLine): void {
  addVerb<PurgeFlags>(jobs, commandLine, {
    name: 'purge',
    summary: 'delete ended jobs, of all final states unless you name some; never one that is still to run',
    examples: ['triphammer jobs purge --older-than 30d', 'triphammer jobs purge --older-than 1d --state completed --queue mail --dry-run'],
    options: (command) =>
      addFilterOptions(addDryRun(command.option('--older-than <duration>', 'ended longer ago than this: 90s, 4h, 30d'))),
    run: (run, flags) => runEffect(run, PURGE, flags, { filter: filterFor(flags, run.world) }),
  })
}

function filterFor(flags: PurgeFlags, { clock }: World): JobFilterInput {
  const { olderThan, state, endedBefore, all } = flags
  const living = state?.find((one) => one === 'pending' || one === 'running')
  if (living !== undefined) throw refusal(`--state ${living}: purge deletes ended jobs only; jobs delete takes others`)
  if (olderThan !== undefined && endedBefore !== undefined) throw refusal('--older-than and --ended-before say the same; give one of them')
  if (olderThan === undefined && endedBefore === undefined && state === undefined && all !== true) {
    throw refusal('say how old with --older-than, or which states with --state; or --all for all jobs that have ended')
  }
  const filter = filterOf(flags, clock)
  return {
    ...filter,
    state: filter.state ?? STATES.filter(isFinal),
    ...(olderThan === undefined ? {} : { endedBefore: Math.max(0, clock.now() - parseDuration(olderThan, '--older-than')) }),
  }
}

function refusal(message: string): TriphammerError {
  return new TriphammerError('INVALID_OPTION', message)
}
