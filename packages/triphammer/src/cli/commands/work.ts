import { resolve } from 'node:path'
import type { Command } from 'commander'
import { DEFAULTS } from '../../core/defaults.ts'
import { parseDuration } from '../../core/duration.ts'
import { TriphammerError } from '../../core/errors.ts'
import { createWorker } from '../../worker.ts'
import { EXIT, type ExitCode } from '../errors.ts'
import { createLines, type Lines } from '../lines.ts'
import { loadTasks } from '../load-tasks.ts'
import { runProcesses } from '../processes.ts'
import { describeStore } from '../store-url.ts'
import { addVerb, type CommandLine, type Run } from '../verb.ts'
import { tellStart, tellStopped, watchWorker } from '../work-lines.ts'
import { processesOf, queuesOf, type WorkFlags, workerOptions } from '../work-options.ts'

/** What a worker may need beyond its grace to give back what it has and to sign off; after that its process is killed. */
const BEYOND_GRACE_MS = 20_000

/** Adds `work`. */
export function addWork(program: Command, commandLine: CommandLine): void {
  addVerb<WorkFlags>(program, commandLine, {
    name: 'work [paths...]',
    summary: 'run jobs with the handlers in files and folders (default: those of the configuration), until SIGTERM or SIGINT',
    examples: [
      'triphammer work ./tasks',
      'triphammer work ./tasks --queue mail=20 --queue default --grace 1m',
      'triphammer work ./tasks/mail.ts --processes 4 --json',
      'triphammer work --once',
    ],
    options: (command) =>
      command
        .option('--queue <name[=concurrency]>', 'work on this queue; may be repeated (default: the queues of the tasks)', appended)
        .option('--concurrency <count>', 'handlers that run at once, in each queue without a number of its own (default: 10)')
        .option('--lease <duration>', 'how long a claimed job is believed alive without a sign (default: 60s)')
        .option('--poll <duration>', 'pause between two looks at an empty queue (default: 1s)')
        .option('--pulse <duration>', 'how often cancels and pauses are asked for (default: 1s)')
        .option('--grace <duration>', 'how long running handlers have to end when it stops (default: 30s)')
        .option('--timeout <duration>', 'time limit of an attempt, where neither job nor task has one (default: none)')
        .option('--max-attempts <count>', 'lowers the attempts of every job')
        .option('--once', 'work until nothing is due, then end; exit code 1 if a job ended unsuccessfully')
        .option('--processes <count>', 'work in so many processes, each with these options; one that dies is started again (default: 1)')
        .option('--verbose', 'tell each job, debugging, and the stacks of errors'),
    run: (run, flags, ...args) => work(run, flags, args[0] as unknown as readonly string[]),
  })
}

async function work(run: Run, flags: WorkFlags, given: readonly string[]): Promise<ExitCode> {
  const { world, settings, json } = run
  const paths = given.length > 0 ? given.map((path) => resolve(world.cwd, path)) : settings.tasks
  if (paths.length === 0) {
    throw new TriphammerError(
      'NO_HANDLER',
      'there is nothing to work with; name files or folders with handlers, or `tasks` in the configuration',
    )
  }
  const count = processesOf(flags, settings)
  const lines = createLines({ world, json, verbose: flags.verbose ?? false })
  return count > 1 && world.child === undefined ? supervise(run, flags, paths, count, lines) : workHere(run, flags, paths, lines)
}

async function workHere(run: Run, flags: WorkFlags, paths: readonly string[], lines: Lines): Promise<ExitCode> {
  const { world, settings, json } = run
  const { handlers } = await loadTasks(paths)
  if (handlers.length === 0) {
    throw new TriphammerError(
      'NO_HANDLER',
      `there are tasks in ${paths.join(', ')}, but no handlers; export handle(task, function), or a function as the default export`,
    )
  }
  const queues = queuesOf(flags, settings.worker.queues, handlers)
  const options = { logger: lines.log, ...workerOptions(flags, settings), queues, handlers, clock: world.clock }
  const worker = createWorker({ ...options, store: run.store('change') })
  tellStart({ world, lines, json }, { store: storeOf(run), paths, queues, tasks: handlers.map(({ task }) => task.name) })
  const counts = watchWorker(worker, lines, { json, verbose: flags.verbose ?? false })
  worker.on('worker.started', () => {
    lines.tell('started', { pid: process.pid }, `started, process ${process.pid}`)
    world.child?.up()
  })
  let wishes = 0
  const unhear = world.onSignal(() => {
    wishes++
    lines.tell('stopping', { hurry: wishes > 1 }, wishes > 1 ? 'stopping at once' : 'stopping; a second signal hurries it')
    void worker.stop().catch(() => {}) // whoever waits for the worker is told
  })
  try {
    await (flags.once ? worker.runOnce() : worker.run({ signals: false }))
  } finally {
    unhear()
  }
  tellStopped(lines, counts)
  return flags.once && counts.unsuccessful > 0 ? EXIT.failed : EXIT.ok
}

async function supervise(run: Run, flags: WorkFlags, paths: readonly string[], count: number, lines: Lines): Promise<ExitCode> {
  const { world, settings, json } = run
  // Options are checked here, so that what is wrong with them is not said by a process first.
  const { grace = DEFAULTS.graceMs } = workerOptions(flags, settings)
  queuesOf(flags, settings.worker.queues, [])
  tellStart({ world, lines, json }, { store: storeOf(run), paths, processes: count })
  const { fork, clock, onSignal } = world
  return runProcesses({ count, fork, clock, onSignal, killAfterMs: parseDuration(grace, 'grace') + BEYOND_GRACE_MS, lines })
}

function storeOf({ world, settings }: Run): string {
  return world.store?.info.name ?? describeStore(settings)
}

function appended(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}
