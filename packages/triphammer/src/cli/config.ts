import { TriphammerError } from '../core/errors.ts'
import { checkInteger, checkOptions } from '../core/options.ts'
import { show } from '../core/text.ts'
import type { Plugin, Store } from '../index.ts'
import type { WorkerOptions } from '../worker.ts'

/** What `triphammer.config.{ts,mts,js,mjs,json}` may say, as its default export. Paths in it are relative to its folder. */
export interface Config {
  /** A store, or its URL: `'sqlite:jobs.db'`, or the path of a file. Default: the SQLite file `.triphammer/jobs.db`. */
  readonly store?: Store | string
  /** Files and folders with handlers, and with tasks: what `work` runs, and by what `jobs enqueue` checks. */
  readonly tasks?: string | readonly string[]
  /** Processes of `work` (default 1: this one). */
  readonly processes?: number
  /** For the workers and for the client of the command line. */
  readonly plugins?: readonly Plugin[]
  /** The most bytes of JSON a payload may have (default 1 MiB). */
  readonly payloadLimit?: number
  /** Options of the worker that `work` makes. */
  readonly worker?: Omit<Partial<WorkerOptions>, 'store' | 'handlers' | 'plugins' | 'payloadLimit' | 'clock' | 'ids'>
}

/**
 * A configuration with its type checked, for `triphammer.config.ts`.
 *
 * @example export default defineConfig({ store: 'sqlite:app.db', tasks: './tasks', worker: { queues: { mail: 20 } } })
 */
export function defineConfig(config: Config): Config {
  return config
}

const KEYS = ['store', 'tasks', 'processes', 'plugins', 'payloadLimit', 'worker']
const WORKER_KEYS = ['queues', 'lease', 'poll', 'pulse', 'grace', 'maxAttempts', 'retry', 'timeout', 'logger']

/**
 * Checks a configuration as far as the command line reads it; what a worker or a store is told is checked there.
 *
 * @param what names it in errors
 * @throws TriphammerError `UNKNOWN_OPTION`, `INVALID_OPTION`
 */
export function checkConfig(value: unknown, what: string): Config {
  const misplaced = Object.keys(Object(value)).find((key) => WORKER_KEYS.includes(key))
  if (misplaced !== undefined) {
    throw new TriphammerError('UNKNOWN_OPTION', `${what}: ${misplaced} is an option of the worker; write worker: { ${misplaced}: … }`)
  }
  checkOptions(value, KEYS, what)
  const config = value as Config
  const { store, tasks, processes, plugins, worker, payloadLimit } = config
  if (store !== undefined && typeof store !== 'string' && typeof store?.enqueue !== 'function') {
    throw new TriphammerError('INVALID_OPTION', `${what}: store is neither a store nor the URL of one, such as 'sqlite:jobs.db'`)
  }
  for (const path of tasks === undefined ? [] : [tasks].flat()) {
    if (typeof path !== 'string' || path === '') {
      throw new TriphammerError('INVALID_OPTION', `${what}: tasks: ${show(path)} is not the path of a file or a folder`)
    }
  }
  if (processes !== undefined) checkInteger(processes, `${what}: processes`, 1, 1_000)
  if (payloadLimit !== undefined) checkInteger(payloadLimit, `${what}: payloadLimit`, 1)
  if (plugins !== undefined && !Array.isArray(plugins)) throw new TriphammerError('INVALID_OPTION', `${what}: plugins is not a list`)
  if (worker !== undefined) checkOptions(worker, WORKER_KEYS, `${what}: worker`)
  return config
}
