import { resolve } from 'node:path'
import type { Command } from 'commander'
import { TriphammerError } from '../../../core/errors.ts'
import { show } from '../../../core/text.ts'
import { type AnyTask, defineTask, type EnqueueOptions, type EnqueueResult, type Job } from '../../../index.ts'
import { wholeNumber } from '../../environment.ts'
import type { ExitCode } from '../../errors.ts'
import { collect, priorityOf } from '../../job-filter.ts'
import { dueText } from '../../job-text.ts'
import { loadTasks } from '../../load-tasks.ts'
import { readPayload, readPayloadLines } from '../../payloads.ts'
import { printable } from '../../printable.ts'
import { addVerb, type CommandLine, type Run } from '../../verb.ts'
import { enqueueLines } from './enqueue-lines.ts'

interface EnqueueFlags {
  readonly file?: string
  readonly lines?: boolean
  readonly queue?: string
  readonly priority?: string
  readonly delay?: string
  readonly runAt?: string
  readonly maxAttempts?: string
  readonly timeout?: string
  readonly retain?: string
  readonly id?: string
  readonly tasks?: readonly string[]
  readonly unchecked?: boolean
}

/** Adds `jobs enqueue`. */
export function addJobsEnqueue(jobs: Command, commandLine: CommandLine): void {
  addVerb<EnqueueFlags>(jobs, commandLine, {
    name: 'enqueue',
    summary: 'enqueue a job, or many; checked by the task where tasks are configured',
    examples: [
      `triphammer jobs enqueue send_welcome '{"to":"ada@example.org","name":"Ada"}' --delay 5m`,
      'triphammer jobs enqueue resize --lines --file images.ndjson --priority low',
      "triphammer jobs enqueue --queue=-odd -- --task '-1'",
    ],
    options: addEnqueueOptions,
    run: (run, flags, name: string, payload: string | undefined) => enqueue(run, flags, name, payload),
  })
}

function addEnqueueOptions(command: Command): Command {
  return command
    .argument('<task>', 'the name of the task')
    .argument('[payload]', 'JSON; - reads it from standard input. Default: none')
    .option('--file <file>', 'read the payload from a file')
    .option('--lines', 'a job for each line of standard input or of the file, in chunks of 1000, each of them all or nothing')
    .option('--queue <name>', "default: the task's, else default")
    .option('--priority <priority>', 'a level such as high, or a number: lower runs first')
    .option('--delay <duration>', 'runs so long from now at the earliest: 90s, 4h, 7d')
    .option('--run-at <moment>', 'runs at this moment at the earliest: 2026-03-01T08:00:00Z')
    .option('--max-attempts <count>', 'attempts, not retries: 1 means run once')
    .option('--timeout <duration>', 'the longest an attempt may take')
    .option('--retain <duration>', 'how long the job is kept after it completed; false forgets it at once')
    .option('--id <uuid>', 'the id of the job: enqueued twice, it is there once')
    .option('--tasks <path>', 'a file or folder with tasks, instead of those of the configuration (repeatable)', collect)
    .option('--unchecked', 'do not look for the task: no schema and no policy of it')
}

async function enqueue(run: Run, flags: EnqueueFlags, name: string, payload: string | undefined): Promise<ExitCode | undefined> {
  const { world } = run
  const source = { text: payload, file: flags.file }
  const options = optionsOf(flags)
  const task = (await findTask(run, flags, name)) ?? defineTask(name)
  if (flags.lines) return enqueueLines(run, { task, options, lines: await readPayloadLines(source, world) })
  await enqueueOne(run, { task, options, payload: await readPayload(source, world) })
  return undefined
}

// Where no tasks are configured there is nothing to check by, and nothing amiss.
async function findTask({ world, settings }: Run, { tasks, unchecked }: EnqueueFlags, name: string): Promise<AnyTask | undefined> {
  const paths = tasks?.map((path) => resolve(world.cwd, path)) ?? settings.tasks
  if (unchecked || paths.length === 0) return undefined
  const loaded = await loadTasks(paths)
  const task = loaded.tasks.get(name)
  if (task) return task
  throw new TriphammerError(
    'INVALID_OPTION',
    `there is no task ${show(name)} in ${paths.join(', ')}; there are ${[...loaded.tasks.keys()].join(', ')}; --unchecked enqueues it all the same`,
  )
}

function optionsOf(flags: EnqueueFlags): EnqueueOptions {
  const { queue, priority, delay, runAt, maxAttempts, timeout, retain, id } = flags
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority: priorityOf(priority) }),
    ...(delay === undefined ? {} : { delay }),
    ...(runAt === undefined ? {} : { runAt }),
    ...(maxAttempts === undefined ? {} : { maxAttempts: wholeNumber(maxAttempts, '--max-attempts') }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(retain === undefined ? {} : { retain: retain === 'false' ? false : retain }),
    ...(id === undefined ? {} : { id }),
  }
}

interface One {
  readonly task: AnyTask
  readonly payload: unknown
  readonly options: EnqueueOptions
}

async function enqueueOne({ open, print, world }: Run, { task, payload, options }: One): Promise<void> {
  const client = open('change')
  const result = await client.enqueue(task, payload, options)
  // Where it went by policy and middleware; a worker may have run and forgotten it meanwhile.
  const job = await client.get(result.id)
  print({ ...result, ...(job === undefined ? {} : { job }) }, () => enqueuedText(result, job, world.clock.now()))
}

function enqueuedText({ id, status }: EnqueueResult, job: Job | undefined, now: number): string {
  if (status === 'duplicate') return `${id} is there already${job ? `, ${job.state}` : ''}: nothing was enqueued.`
  if (!job) return `Enqueued ${id}.`
  const due = dueText(job, now)
  return `Enqueued ${id} into the queue ${printable(job.queue)}: task ${printable(job.task)}${due === undefined ? '' : `, ${due}`}.`
}
