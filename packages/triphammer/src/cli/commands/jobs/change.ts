import type { Command } from 'commander'
import { isFinal, type JobState } from '../../../core/state.ts'
import type { Changed, Client, Target } from '../../../index.ts'
import { EXIT, type ExitCode } from '../../errors.ts'
import { addFilterOptions, type FilterFlags } from '../../job-filter.ts'
import { addIds, type JobTarget, targetOf } from '../../job-target.ts'
import { countsText, jobCount } from '../../job-text.ts'
import { showProgress } from '../../progress.ts'
import { addVerb, type CommandLine, type Run } from '../../verb.ts'
import { type Foreseen, foresee, inParts } from './foresee.ts'

/** What a command does to jobs. */
export interface Effect<Flags extends object> {
  /** What is said of the jobs that it changed: `retried`. */
  readonly done: string
  /** From which states, as docs/guides/operating.md has it: a dry run tells by it what would happen. */
  readonly from: (state: JobState, flags: Flags) => boolean
  readonly apply: (jobs: Client, target: Target, flags: Flags) => Promise<Changed>
}

/** A command that changes the jobs that its arguments name or its conditions find. */
export interface Change<Flags extends object> extends Effect<Flags> {
  readonly name: string
  readonly summary: string
  readonly examples: readonly [string, ...string[]]
  /** Adds its own options, besides those that say which jobs. */
  readonly options: (command: Command) => Command
}

/** Options of each such command. */
export interface ChangeFlags extends FilterFlags {
  readonly dryRun?: boolean
}

/** Adds a {@link Change}. */
export function addChange<Flags extends object>(jobs: Command, commandLine: CommandLine, change: Change<Flags>): void {
  addVerb<Flags & ChangeFlags>(jobs, commandLine, {
    name: change.name,
    summary: change.summary,
    examples: change.examples,
    options: (command) => addFilterOptions(addDryRun(change.options(addIds(command, '[id...]')))),
    run: async (run, flags, args: readonly string[]) => runEffect(run, change, flags, await targetOf(args, flags, run.world)),
  })
}

/** Adds `--dry-run`. */
export function addDryRun(command: Command): Command {
  return command.option('--dry-run', 'count what would be changed, and change nothing')
}

/** Changes the jobs of a target, or, dry, tells what would be changed. */
export async function runEffect<Flags extends ChangeFlags>(
  run: Run,
  effect: Effect<Flags>,
  flags: Flags,
  target: JobTarget,
): Promise<ExitCode | undefined> {
  const client = run.open('look')
  const applies = (state: JobState): boolean => effect.from(state, flags)
  // What would be refused is refused of a dry run as well.
  if (flags.dryRun) await effect.apply(client, [], flags)
  const result = flags.dryRun
    ? await foresee(client, target, applies)
    : await perform(run, client, target, { applies, apply: (part) => effect.apply(client, part, flags) })
  run.print({ dryRun: flags.dryRun === true, ...result }, () => resultText(result, effect.done))
  return result.refused.length + result.missing.length > 0 ? EXIT.failed : undefined
}

async function perform(
  { world, json }: Run,
  client: Client,
  target: JobTarget,
  { applies, apply }: { readonly applies: (state: JobState) => boolean; readonly apply: (part: Target) => Promise<Changed> },
): Promise<Changed> {
  if (json) return applyTo(target, apply)
  const progress = showProgress(world, 'jobs', world.isInteractive ? await sizeOf(client, target, applies) : undefined)
  let done = 0
  client.on('job.changed', () => progress.reach(++done))
  try {
    return await applyTo(target, apply)
  } finally {
    progress.end()
  }
}

async function sizeOf(client: Client, target: JobTarget, applies: (state: JobState) => boolean): Promise<number> {
  return 'ids' in target ? target.ids.length : (await foresee(client, target, applies)).changed
}

async function applyTo(target: JobTarget, apply: (part: Target) => Promise<Changed>): Promise<Changed> {
  if ('filter' in target) return apply(target.filter)
  const parts: Changed[] = []
  for (const ids of inParts(target.ids)) parts.push(await apply(ids))
  return {
    changed: parts.reduce((sum, { changed }) => sum + changed, 0),
    refused: parts.flatMap(({ refused }) => refused),
    missing: parts.flatMap(({ missing }) => missing),
  }
}

function resultText(result: Changed | Foreseen, done: string): string {
  const { changed, refused, missing } = result
  const lines = 'change' in result ? foreseenLines(result, done) : [`${jobCount(changed)} ${done}.`]
  return [
    ...lines,
    ...refused.map(({ id, state }) => `${id} is ${isFinal(state) ? `${state} already` : state}: refused.`),
    ...missing.map((id) => `${id} is not there.`),
  ].join('\n')
}

function foreseenLines({ changed, change, leave }: Foreseen, done: string): readonly string[] {
  const left = countsText(leave)
  return [
    `${jobCount(changed)} would be ${done}${changed === 0 ? '' : `: ${countsText(change)}`}.`,
    ...(left === '' ? [] : [`Left alone would be ${left}.`]),
  ]
}
