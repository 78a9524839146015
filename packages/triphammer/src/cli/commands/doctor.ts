import type { Command } from 'commander'
import { isTriphammerError } from '../../core/errors.ts'
import type { Diagnosis, Finding } from '../../index.ts'
import { EXIT, exitCodeOf } from '../errors.ts'
import { printable } from '../printable.ts'
import { addVerb, type CommandLine, type Run } from '../verb.ts'

interface Flags {
  readonly deep?: boolean
  readonly strict?: boolean
}

/** Adds `doctor`. */
export function addDoctor(program: Command, commandLine: CommandLine): void {
  addVerb<Flags>(program, commandLine, {
    name: 'doctor',
    summary: 'say what is wrong with the store, its workers and what waits, and what to do; exit code 1 if something is a problem',
    examples: ['triphammer doctor', 'triphammer doctor --strict --json', 'triphammer doctor --deep'],
    options: (command) =>
      command.option('--deep', 'read the whole database for damage as well').option('--strict', 'exit code 1 for warnings, too'),
    async run(run, { deep = false, strict = false }) {
      const diagnosis = await examine(run, deep)
      run.print(diagnosis, () => textOf(diagnosis))
      const isFine = strict ? diagnosis.findings.every(({ level }) => level === 'ok') : diagnosis.healthy
      return isFine ? EXIT.ok : EXIT.failed
    },
  })
}

// A store that is not there is a finding; a command line that names none is not.
async function examine({ open }: Run, deep: boolean): Promise<Diagnosis> {
  try {
    return await open('look').doctor({ deep })
  } catch (error) {
    if (!isTriphammerError(error) || exitCodeOf(error) === EXIT.usage) throw error
    return { healthy: false, findings: [{ check: 'store', level: 'problem', message: error.message }] }
  }
}

const MARKS = { ok: '✔', warning: '!', problem: '✘' } as const

function textOf({ findings }: Diagnosis): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.map(({ check, level, message, advice }) => {
    const line = `${MARKS[level]} ${check.padEnd(width)}  ${printable(message)}`
    return advice === undefined ? line : `${line}\n  ${' '.repeat(width)}  → ${advice}`
  })
  return [...lines, '', verdict(findings)].join('\n')
}

function verdict(findings: readonly Finding[]): string {
  const count = (level: Finding['level']): number => findings.filter((finding) => finding.level === level).length
  const [problems, warnings] = [count('problem'), count('warning')]
  if (problems + warnings === 0) return 'All is well.'
  return [[problems, 'problem'] as const, [warnings, 'warning'] as const]
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${number} ${what}${number === 1 ? '' : 's'}`)
    .join(', ')
}
