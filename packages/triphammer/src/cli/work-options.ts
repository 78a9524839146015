import { DEFAULTS } from '../core/defaults.ts'
import { parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { checkInteger } from '../core/options.ts'
import type { Handler, QueueOptions, WorkerOptions } from '../worker.ts'
import { parseQueues, wholeNumber } from './environment.ts'
import type { Settings } from './settings.ts'

/** The options of `work`, as text. */
export interface WorkFlags {
  readonly queue?: readonly string[]
  readonly concurrency?: string
  readonly lease?: string
  readonly poll?: string
  readonly pulse?: string
  readonly grace?: string
  readonly timeout?: string
  readonly maxAttempts?: string
  readonly once?: boolean
  readonly processes?: string
  readonly verbose?: boolean
}

/** What a queue is served with; the concurrency is always said. */
export type Queues = Readonly<Record<string, QueueOptions & { readonly concurrency: number }>>

/**
 * What a worker is told about everything but its store, its handlers and its queues: the options, over the settings.
 *
 * @throws TriphammerError `INVALID_DURATION`, `INVALID_OPTION`
 */
export function workerOptions(flags: WorkFlags, { worker, plugins, payloadLimit }: Settings): Omit<WorkerOptions, 'store' | 'handlers'> {
  const durations = (['lease', 'poll', 'pulse', 'grace', 'timeout'] as const).flatMap((name) =>
    flags[name] === undefined ? [] : [[name, parseDuration(flags[name], `--${name}`)] as const],
  )
  return {
    ...worker,
    ...Object.fromEntries(durations),
    ...(flags.maxAttempts === undefined ? {} : { maxAttempts: wholeNumber(flags.maxAttempts, '--max-attempts') }),
    ...(payloadLimit === undefined ? {} : { payloadLimit }),
    plugins,
  }
}

/**
 * The queues to work on: those of `--queue`, else those of the settings, else those of the handlers' tasks. What the settings
 * say about a queue holds for it unless an option says otherwise; `--concurrency` is for those that nothing else is said of.
 *
 * @throws TriphammerError `INVALID_OPTION`
 */
export function queuesOf(flags: WorkFlags, configured: WorkerOptions['queues'] = {}, handlers: readonly Handler[]): Queues {
  const usual =
    flags.concurrency === undefined
      ? DEFAULTS.concurrency
      : checkInteger(wholeNumber(flags.concurrency, '--concurrency'), '--concurrency', 1)
  const known = new Map(
    Object.entries(configured).map(([name, given]) => [name, typeof given === 'number' ? { concurrency: given } : given]),
  )
  const ofTasks = handlers.map(({ task }) => task.policy.queue ?? DEFAULTS.queue)
  const asked = flags.queue ? new Map(Object.entries(parseQueues(flags.queue, '--queue'))) : undefined
  const names = asked?.keys() ?? (known.size > 0 ? known.keys() : new Set(ofTasks))
  return Object.fromEntries([...names].map((name) => [name, { concurrency: usual, ...known.get(name), ...asked?.get(name) }]))
}

/**
 * How many processes shall work.
 *
 * @throws TriphammerError `INVALID_OPTION`
 */
export function processesOf(flags: WorkFlags, settings: Settings): number {
  if (flags.once) {
    if (flags.processes === undefined) return 1
    throw new TriphammerError('INVALID_OPTION', '--once works in one process; leave --processes out')
  }
  const count =
    flags.processes === undefined ? settings.processes : checkInteger(wholeNumber(flags.processes, '--processes'), '--processes', 1, 1_000)
  if (count > 1 && typeof settings.store === 'object' && settings.store.info.name === 'memory') {
    throw new TriphammerError('INVALID_OPTION', 'a store in memory lives within one process; leave processes out, or name another store')
  }
  return count
}
