import type { Command } from 'commander'
import type { Migration, SchemaStatus } from '../../index.ts'
import { printable } from '../printable.ts'
import { table } from '../table.ts'
import { addVerb, type CommandLine } from '../verb.ts'

interface Flags {
  readonly dryRun?: boolean
  readonly status?: boolean
}

/** Adds `migrate`. */
export function addMigrate(program: Command, commandLine: CommandLine): void {
  addVerb<Flags>(program, commandLine, {
    name: 'migrate',
    summary: 'bring the schema of the store up to date',
    examples: ['triphammer migrate', 'triphammer migrate --status', 'triphammer migrate --dry-run --store sqlite:app.db'],
    options: (command) =>
      command
        .option('--status', 'show which steps are applied and which are not, and change nothing')
        .option('--dry-run', 'show the statements that would be run, and change nothing'),
    async run({ open, print }, { dryRun = false, status = false }) {
      const jobs = open('migrate')
      if (status) {
        const found = await jobs.store.schema.status()
        print(found, () => statusText(found))
        return undefined
      }
      const steps = await jobs.migrate({ dryRun })
      print({ dryRun, steps: steps.map(dryRun ? (step) => step : withoutSql) }, () => (dryRun ? planText(steps) : doneText(steps)))
      return undefined
    },
  })
}

function withoutSql({ id, name, breaking }: Migration): Omit<Migration, 'sql'> {
  return { id, name, breaking }
}

function statusText({ applied, pending, unknown }: SchemaStatus): string {
  const newer = new Set(unknown.map(({ id }) => id))
  const rows = [
    ...applied.map((step) => ({ ...step, state: newer.has(step.id) ? 'of a newer version' : 'applied' })),
    ...pending.map((step) => ({ ...step, state: 'not applied' })),
  ]
  if (rows.length === 0) return 'This store has no schema.'
  return table(rows, [
    { title: 'step', align: 'right', of: ({ id }) => id },
    { title: 'name', of: ({ name }) => name },
    { title: 'state', of: ({ state }) => state },
  ])
}

function planText(steps: readonly Migration[]): string {
  if (steps.length === 0) return 'Nothing to do: the schema is up to date.'
  return steps.map(({ id, name, sql }) => `-- step ${id}: ${printable(name)}\n${sql.trim()}\n`).join('\n')
}

function doneText(steps: readonly Migration[]): string {
  if (steps.length === 0) return 'The schema is up to date.'
  return steps.map(({ id, name }) => `Applied step ${id}: ${printable(name)}.`).join('\n')
}
