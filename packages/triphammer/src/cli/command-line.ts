import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { addBench } from './commands/bench.ts'
import { addDoctor } from './commands/doctor.ts'
import { addJobs } from './commands/jobs/jobs.ts'
import { addMigrate } from './commands/migrate.ts'
import { addQueues } from './commands/queues.ts'
import { addWork } from './commands/work.ts'
import { addWorkers } from './commands/workers.ts'
import { EXIT, type ExitCode, exitCodeOf, tellError, tellUsage } from './errors.ts'
import { withoutSecrets } from './secrets.ts'
import type { CommandLine } from './verb.ts'
import type { World } from './world.ts'

/**
 * Runs a command line.
 *
 * @param argv without the program's name
 * @returns the exit code: 0, 1 where something failed, 2 where the command line or the configuration is wrong
 */
export async function runCommandLine(argv: readonly string[], world: World): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const careful: World = { ...world, err: (text) => world.err(withoutSecrets(text)) }
  const json = asksForJson(argv)
  const commandLine: CommandLine = {
    world: careful,
    ended: (exitCode) => {
      code = exitCode
    },
  }
  const program = createProgram(commandLine, json)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    // Help that was asked for, the version, or a complaint that commander has printed already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    tellError(error, careful, json)
    return exitCodeOf(error)
  }
}

// Asked of the text: a command line that cannot be parsed is an error that is told as well.
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}

function createProgram(commandLine: CommandLine, json: boolean): Command {
  const { world } = commandLine
  const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string }
  const program = new Command('triphammer')
    .description('Background jobs on the database you already run.')
    .usage('<noun> <verb> [options]')
    .exitOverride()
    .configureOutput({
      writeOut: world.out,
      writeErr: world.err,
      outputError: (text) => tellUsage(text, world, json),
      getOutHelpWidth: () => world.columns ?? 100,
      getErrHelpWidth: () => world.columns ?? 100,
    })
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .showSuggestionAfterError()
    .version(version, '-V, --version', 'the version of triphammer')
    .helpOption('-h, --help', 'help for a command')
    .option('--store <url>', 'where the jobs are: sqlite:jobs.db, or the path of a file')
    .option('--config <file>', 'default: triphammer.config.{ts,mts,js,mjs,json} in the working directory')
    .option('--json', 'for programs: one JSON document on standard output, errors as JSON on standard error')
  addMigrate(program, commandLine)
  addDoctor(program, commandLine)
  addBench(program, commandLine)
  addJobs(program, commandLine)
  addQueues(program, commandLine)
  addWorkers(program, commandLine)
  addWork(program, commandLine)
  return program
}
