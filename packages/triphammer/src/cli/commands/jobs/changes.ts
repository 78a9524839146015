import type { Command } from 'commander'
import { isFinal } from '../../../core/state.ts'
import type { When } from '../../../index.ts'
import { priorityOf } from '../../job-filter.ts'
import type { CommandLine } from '../../verb.ts'
import { addChange } from './change.ts'

interface WhenFlags {
  readonly at?: string
  readonly delay?: string
}

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'

/** Adds `jobs retry`, `cancel` and `kill`. */
export function addJobsEnding(jobs: Command, commandLine: CommandLine): void {
  addChange<WhenFlags>(jobs, commandLine, {
    name: 'retry',
    summary: 'run jobs again: a running one is taken from its worker, an ended one starts over with all its attempts',
    examples: [`triphammer jobs retry ${ID}`, 'triphammer jobs retry --state unsuccessful --queue mail --ended-after 1d --dry-run'],
    options: addWhenOptions,
    done: 'retried',
    from: (state) => state !== 'completed',
    apply: (client, target, flags) => client.retry(target, whenOf(flags)),
  })
  addChange<{ readonly reason?: string; readonly force?: boolean }>(jobs, commandLine, {
    name: 'cancel',
    summary: 'cancel jobs; a running one is asked to stop',
    examples: [`triphammer jobs cancel ${ID} --reason "the account was closed"`, 'triphammer jobs cancel --task send_newsletter --dry-run'],
    options: (command) =>
      command.option('--reason <text>', 'why; kept with the job').option('--force', 'take a running job from its worker at once'),
    done: 'cancelled, or asked to stop',
    from: (state) => !isFinal(state),
    apply: (client, target, { reason, force }) =>
      client.cancel(target, { ...(reason === undefined ? {} : { reason }), ...(force === undefined ? {} : { force }) }),
  })
  addChange<{ readonly reason?: string }>(jobs, commandLine, {
    name: 'kill',
    summary: 'make jobs dead, now; a running one is taken from its worker',
    examples: [`triphammer jobs kill ${ID} --reason "the customer is gone"`],
    options: (command) => command.option('--reason <text>', 'why; kept with the job'),
    done: 'killed',
    from: (state) => ['pending', 'running', 'failed', 'timed_out'].includes(state),
    apply: (client, target, { reason }) => client.kill(target, reason === undefined ? {} : { reason }),
  })
}

/** Adds `jobs reschedule`, `reprioritise` and `delete`. */
export function addJobsMoving(jobs: Command, commandLine: CommandLine): void {
  addChange<WhenFlags>(jobs, commandLine, {
    name: 'reschedule',
    summary: 'give pending jobs another run time',
    examples: [`triphammer jobs reschedule ${ID} --delay 1h`, 'triphammer jobs reschedule --queue mail --at 2026-03-01T08:00:00Z'],
    options: addWhenOptions,
    done: 'rescheduled',
    from: (state) => state === 'pending',
    apply: (client, target, flags) => client.reschedule(target, whenOf(flags)),
  })
  addChange<{ readonly to: string }>(jobs, commandLine, {
    name: 'reprioritise',
    summary: 'give pending jobs another priority',
    examples: [`triphammer jobs reprioritise ${ID} --to critical`, 'triphammer jobs reprioritise --queue mail --priority low --to normal'],
    options: (command) => command.requiredOption('--to <priority>', 'a level such as high, or a number: lower runs first'),
    done: 'reprioritised',
    from: (state) => state === 'pending',
    apply: (client, target, { to }) => client.reprioritise(target, priorityOf(to)),
  })
  addChange<{ readonly force?: boolean }>(jobs, commandLine, {
    name: 'delete',
    summary: 'delete jobs, whatever becomes of them; running ones are refused',
    examples: [`triphammer jobs delete ${ID}`, 'triphammer jobs delete --task resize --state pending --dry-run'],
    options: (command) => command.option('--force', 'also running jobs: they are taken from their workers'),
    done: 'deleted',
    from: (state, { force }) => force === true || state !== 'running',
    apply: (client, target, { force }) => client.delete(target, force === undefined ? {} : { force }),
  })
}

function addWhenOptions(command: Command): Command {
  return command
    .option('--at <moment>', 'at a moment such as 2026-03-01T08:00:00Z')
    .option('--delay <duration>', 'so long from now: 90s, 4h, 7d')
}

function whenOf({ at, delay }: WhenFlags): When {
  return { ...(at === undefined ? {} : { at }), ...(delay === undefined ? {} : { delay }) }
}
