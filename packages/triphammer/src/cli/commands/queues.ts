import type { Command } from 'commander'
import { durationText } from '../../core/duration-text.ts'
import type { QueueInfo } from '../../index.ts'
import { moment } from '../moments.ts'
import { printable } from '../printable.ts'
import { type Column, table } from '../table.ts'
import { addVerb, type CommandLine } from '../verb.ts'
import type { World } from '../world.ts'

/** Adds `queues list`, `queues pause` and `queues resume`. */
export function addQueues(program: Command, commandLine: CommandLine): void {
  const queues = program.command('queues').description('look at queues, hold them and let them go')

  addVerb(queues, commandLine, {
    name: 'list',
    summary: 'all queues with their live jobs, for how long a due job has waited, and which are paused',
    examples: ['triphammer queues list', 'triphammer queues list --json'],
    async run({ open, print, world }) {
      const found = await open('look').queues()
      print(found, () => (found.length === 0 ? 'There are no queues: no job is live and nothing is paused.' : queueTable(found, world)))
      return undefined
    },
  })
  addVerb<{ readonly by?: string; readonly reason?: string }>(queues, commandLine, {
    name: 'pause <queue>',
    summary: 'no job of the queue is claimed until it is resumed; what runs goes on',
    examples: ['triphammer queues pause mail --by ada --reason "the mail service is down"'],
    options: (command) => command.option('--by <name>', 'who pauses it').option('--reason <text>', 'why, for those who find it paused'),
    async run({ open, print }, flags, queue: string) {
      const info = await open('change').pause(queue, flags)
      print(info, () => `${printable(queue)} is paused: ${info.pending} pending, ${info.running} running.`)
      return undefined
    },
  })
  addVerb<{ readonly by?: string }>(queues, commandLine, {
    name: 'resume <queue>',
    summary: 'end a pause',
    examples: ['triphammer queues resume mail --by ada'],
    options: (command) => command.option('--by <name>', 'who resumes it'),
    async run({ open, print }, flags, queue: string) {
      const info = await open('change').resume(queue, flags)
      print(info, () => `${printable(queue)} is not paused: ${info.pending} pending, ${info.running} running.`)
      return undefined
    },
  })
}

function queueTable(queues: readonly QueueInfo[], { clock, columns }: World): string {
  const now = clock.now()
  const list: readonly Column<QueueInfo>[] = [
    { title: 'queue', cut: { least: 12, fair: 20 }, of: ({ name }) => name },
    { title: 'pending', align: 'right', of: ({ pending }) => pending },
    { title: 'running', align: 'right', of: ({ running }) => running },
    { title: 'waiting', align: 'right', of: ({ waitingSince }) => waitingSince && durationText(Math.max(0, now - waitingSince)) },
    { title: 'paused', of: ({ paused }) => paused && `since ${moment(paused.since)}` },
    { title: 'by', cut: { least: 6, fair: 6 }, spare: true, of: ({ paused }) => paused?.by },
    { title: 'reason', cut: { least: 12, fair: 12 }, spare: true, of: ({ paused }) => paused?.reason },
  ]
  return table(queues, list, columns)
}
