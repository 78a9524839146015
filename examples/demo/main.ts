import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient, isTriphammerError, type Job, type Logger } from 'triphammer'
import { sqlite } from 'triphammer/sqlite'
import { HELP, type Places, readCommand, UsageError } from './arguments.ts'
import { findCompany } from './company.ts'
import { STATE_FOLDER } from './handlers.ts'
import { createLogFile } from './log-file.ts'
import { printable } from './names.ts'
import { printSummary } from './print.ts'
import type { Summary } from './report.ts'
import { type DemoRun, joinRun } from './runs.ts'
import { indexEntry } from './tasks.ts'
import { count, paintFor } from './text.ts'
import { createView } from './view.ts'
import { BACK_WITHIN, workOn } from './work.ts'

const { stdout } = process
const paint = paintFor(stdout)

async function main(): Promise<number> {
  const command = await readCommand(process.argv.slice(2), currentFolder())
  if (command.kind === 'help') {
    stdout.write(HELP)
    return 0
  }
  const state = join(command.folder, STATE_FOLDER)
  await mkdir(state, { recursive: true })
  const logger = createLogFile(join(state, 'demo.log'))
  // Indexing a file again does no harm, so a power failure may undo the last finishes: that saves an fsync for each.
  const store = sqlite(join(state, 'demo.db'), { synchronous: 'normal' })
  await using jobs = createClient({ store, logger })
  return await indexFolder({ jobs, places: command, logger })
}

interface Session {
  readonly jobs: Client
  readonly places: Places
  readonly logger: Logger
}

async function indexFolder({ jobs, places, logger }: Session): Promise<number> {
  const { run, resumed } = await joinRun(jobs, places.root)
  say(`${paint('bold', 'Indexing')} ${printable(places.root)}`)
  if (resumed) await sayWhatIsThere(jobs, run)

  const { report, signal } = await workOn({ jobs, run, output: places.output, logger, view: createView(stdout) })
  if (report?.state === 'completed') {
    stdout.write(`\n${printSummary(report.result as Summary, { width: stdout.columns ?? 100, paint })}`)
    return 0
  }
  if (report && !report.endedAt && signal) {
    say('Stopped. What is done stays done: run the same command again to go on.')
    return signal === 'SIGINT' ? 130 : 143
  }
  return complain(reasonOf(report), 1)
}

/** A run that was begun before: by a copy that is still at it, or by one that was stopped. */
async function sayWhatIsThere(jobs: Client, run: DemoRun): Promise<void> {
  const done = await jobs.count({ queue: run.queue, task: indexEntry, state: ['completed', 'unsuccessful', 'cancelled'] })
  const { copies, claimed } = await findCompany(jobs, run)
  if (copies.length > 0)
    return say(`Another copy is at it (process ${copies.join(', ')}): sharing the work, ${count(done, 'file')} done so far.`)
  say(`Going on with run ${run.number}: ${count(done, 'file')} done so far.`)
  if (claimed > 0) say(`${count(claimed, 'job')} of a stopped copy come back within ${BACK_WITHIN}.`)
}

function reasonOf(report: Job | undefined): string {
  if (!report) return 'the jobs of this run have been deleted; run it again to begin anew'
  return `the run failed (${report.state}): ${report.error?.message ?? 'no reason given'}; run it again to try again`
}

// npm runs scripts in the package's folder and says in INIT_CWD where it was called.
function currentFolder(): string {
  const { npm_lifecycle_event: script, INIT_CWD: calledIn } = process.env
  return script === 'demo' && calledIn !== undefined ? calledIn : process.cwd()
}

function say(line: string): void {
  stdout.write(`${line}\n`)
}

function complain(message: string, code: number): number {
  process.stderr.write(`demo: ${printable(message)}\n`)
  return code
}

function explain(error: unknown): number {
  if (error instanceof UsageError) return complain(`${error.message} (--help shows the usage)`, 2)
  if (isTriphammerError(error)) return complain(`${error.message} (${error.code})`, 1)
  if (error instanceof Error && 'syscall' in error) return complain(error.message, 1)
  process.stderr.write(`demo: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  return 1
}

// Whoever reads the output may leave early (`| head`): nothing is left to say then, and nothing is lost by stopping.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

process.exitCode = await main().catch(explain)
