import { constants } from 'node:fs'
import { access, lstat, realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const REPORT_NAME = 'report.json'

export const HELP: string = `Usage: npm run demo [folder]

Indexes a folder with background jobs: one job per file (size, lines, SHA-256,
language), and a last one that writes ${REPORT_NAME} into the current folder and
prints a table. Default: the repository this program is part of.

The jobs are in .triphammer/demo.db below the current folder. Stop the program
however you like, kill -9 included, and start it again: it goes on where it
stopped. Start it twice at once, and the two share the work. Started again
after the report is written, it begins a new run.

Not indexed: .git, node_modules and .triphammer, wherever they occur, and the
report itself. Symbolic links are not followed; they are listed, as are FIFOs,
sockets and devices, which are never opened. A file that cannot be read is
tried again a few times and then listed with the reason.

Options (npm wants a -- before them: npm run demo -- --help):
  -h, --help   show this

Exit codes: 0 the report is written, 1 the run failed, 2 wrong arguments,
130 and 143 stopped by SIGINT and SIGTERM
`

/** What was asked for is not possible: printed without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What to do. */
export type Command = { readonly kind: 'help' } | ({ readonly kind: 'index' } & Places)

/** Absolute paths with all links resolved, so that two ways to write a folder mean one run. */
export interface Places {
  readonly root: string
  readonly folder: string
  readonly output: string
}

/**
 * Reads the command line and checks what it names.
 *
 * @param current the folder in which the user typed the command
 * @throws UsageError
 */
export async function readCommand(args: readonly string[], current: string): Promise<Command> {
  const { help, folder } = parse(args)
  if (help) return { kind: 'help' }
  const here = await realpath(current)
  const root = folder === undefined ? repository() : resolve(here, folder)
  const output = join(here, REPORT_NAME)
  await checkFolder(root, folder ?? root)
  await checkOutput(here, output)
  return { kind: 'index', root: await realpath(root), folder: here, output }
}

function parse(args: readonly string[]): { readonly help: boolean; readonly folder: string | undefined } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    })
    if (positionals.length > 1) throw new UsageError(`one folder at a time, not ${positionals.length}: ${positionals.join(' ')}`)
    if (positionals[0] === '') throw new UsageError('the name of the folder is empty')
    return { help: values.help ?? false, folder: positionals[0] }
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message)
    throw error
  }
}

// This file is examples/dist/demo/arguments.js when it runs.
function repository(): string {
  return fileURLToPath(new URL('../../../', import.meta.url))
}

async function checkFolder(root: string, asWritten: string): Promise<void> {
  try {
    if (!(await stat(root)).isDirectory()) throw new UsageError(`${asWritten} is not a folder; give a folder to index`)
    await access(root, constants.R_OK | constants.X_OK)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const code = codeOf(error)
    throw new UsageError(code === 'ENOENT' ? `there is no folder ${asWritten}` : `${asWritten} cannot be read (${code})`)
  }
}

// Better to learn it now than when all the work is done.
async function checkOutput(current: string, output: string): Promise<void> {
  try {
    await access(current, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new UsageError(`${REPORT_NAME} cannot be written into ${current} (${codeOf(error)}); change to a folder that you may write to`)
  }
  const existing = await lstat(output).catch(() => undefined)
  if (existing?.isDirectory()) throw new UsageError(`${output} is a folder; remove it or change to another folder`)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
