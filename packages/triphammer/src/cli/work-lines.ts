import { durationText } from '../core/duration-text.ts'
import type { Events, EventType } from '../index.ts'
import type { Worker } from '../worker.ts'
import type { Lines } from './lines.ts'
import { printable } from './printable.ts'
import { listing } from './table.ts'
import type { Queues } from './work-options.ts'
import type { World } from './world.ts'

/** What `work` begins with. */
export interface Start {
  readonly store: string
  readonly paths: readonly string[]
  readonly queues?: Queues
  readonly tasks?: readonly string[]
  readonly processes?: number
}

/**
 * Tells what will be worked on: people as a list, and only once where several processes work; a program in one line of each
 * process.
 */
export function tellStart(
  { world, lines, json }: { readonly world: World; readonly lines: Lines; readonly json: boolean },
  start: Start,
): void {
  const queues = start.queues && Object.entries(start.queues).map(([name, { concurrency }]) => ({ name, concurrency }))
  if (json) return lines.tell('work', { ...start, ...(queues ? { queues } : {}) }, '')
  if (world.child !== undefined && world.child.number > 1) return
  // Of several processes the parent begins the list and the first child goes on with it.
  const text = listing(
    [
      ['store', world.child ? undefined : start.store],
      ['paths', world.child ? undefined : few(start.paths)],
      ['processes', start.processes],
      ['queues', queues?.map(({ name, concurrency }) => `${name} (${concurrency})`).join(', ')],
      ['tasks', start.tasks && few(start.tasks)],
    ],
    world.child ? 'processes'.length : 0,
  )
  world.out(`${text}\n`)
}

const SHOWN = 20

function few(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''
  return names.slice(0, SHOWN).join(', ') + more
}

/** Tells that the worker has stopped, and what it did. */
export function tellStopped(lines: Lines, counts: Counts): void {
  const { completed, retrying, unsuccessful } = counts
  lines.tell('stopped', counts, `stopped: ${completed} completed, ${unsuccessful} unsuccessful, ${retrying} to be tried again`)
}

/** What became of jobs while a worker was watched. */
export interface Counts {
  completed: number
  /** Attempts that failed and will be repeated. */
  retrying: number
  /** Jobs that are dead, timed out or failed. */
  unsuccessful: number
}

type JobEventType = Exclude<Extract<EventType, `job.${string}`>, 'job.enqueued' | 'job.changed'>

const COUNTED: Partial<Record<JobEventType, keyof Counts>> = {
  'job.completed': 'completed',
  'job.retrying': 'retrying',
  'job.dead': 'unsuccessful',
  'job.timed_out': 'unsuccessful',
  'job.failed': 'unsuccessful',
}
const TOLD: readonly JobEventType[] = [
  'job.started',
  'job.completed',
  'job.snoozed',
  'job.released',
  'job.cancelled',
  'job.failed',
  'job.lost',
]
// The worker's log tells these to people; a program finds all in one place.
const TOLD_BY_LOG: readonly JobEventType[] = ['job.retrying', 'job.dead', 'job.timed_out']

/** Counts what becomes of a worker's jobs, and, where that is asked for, tells each. */
export function watchWorker(
  worker: Pick<Worker, 'on'>,
  lines: Lines,
  options: { readonly json: boolean; readonly verbose: boolean },
): Counts {
  const counts: Counts = { completed: 0, retrying: 0, unsuccessful: 0 }
  for (const [type, count] of Object.entries(COUNTED) as [JobEventType, keyof Counts][]) worker.on(type, () => counts[count]++)
  if (!options.verbose) return counts
  for (const type of options.json ? [...TOLD, ...TOLD_BY_LOG] : TOLD) {
    worker.on(type, (event) => {
      // A result may be long, and is nobody's business in a log: JSON leaves out what is undefined.
      lines.tell(type, { ...event, result: undefined }, jobText(type, event))
    })
  }
  return counts
}

function jobText(type: JobEventType, event: Events[JobEventType]): string {
  const { job, attempt } = event
  const took = 'durationMs' in event && event.durationMs !== undefined ? `, ${durationText(event.durationMs)}` : ''
  return `${type.replace('job.', '').padEnd(9)} ${printable(job.task)} ${job.id} (attempt ${attempt}${took})`
}
