import type { Command } from 'commander'
import { age } from '../../core/duration-text.ts'
import type { SessionRecord } from '../../index.ts'
import { table } from '../table.ts'
import { addVerb, type CommandLine } from '../verb.ts'

/** Adds `workers list`. */
export function addWorkers(program: Command, commandLine: CommandLine): void {
  const workers = program.command('workers').description('look at the workers')

  addVerb(workers, commandLine, {
    name: 'list',
    summary: 'the workers that have been heard of in the last minutes, on every machine',
    examples: ['triphammer workers list', 'triphammer workers list --json'],
    async run({ open, print, world }) {
      const found = await open('look').workers()
      print(found, () => (found.length === 0 ? 'No worker has been heard of.' : workerTable(found, world.clock.now(), world.columns)))
      return undefined
    },
  })
}

function workerTable(workers: readonly SessionRecord[], now: number, room: number | undefined): string {
  return table(
    workers,
    [
      { title: 'id', of: ({ id }) => id },
      { title: 'host', cut: { least: 6, fair: 20 }, of: ({ host }) => host },
      { title: 'pid', align: 'right', of: ({ pid }) => pid },
      { title: 'seen', of: ({ seenAt }) => `${age(now - seenAt)} ago` },
      { title: 'running', align: 'right', of: ({ running, concurrency }) => `${running}/${concurrency}` },
      { title: 'held', align: 'right', of: ({ held }) => held },
      { title: 'queues', cut: { least: 8, fair: 8 }, spare: true, of: ({ queues }) => queues.join(', ') },
      { title: 'tasks', cut: { least: 8, fair: 8 }, spare: true, of: ({ tasks }) => tasks.join(', ') },
    ],
    room,
  )
}
