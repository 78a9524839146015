import { TriphammerError } from '../core/errors.ts'
import { show } from '../core/text.ts'
import type { QueueOptions } from '../worker.ts'
import type { Config } from './config.ts'

const PREFIX = 'TRIPHAMMER_'

/** The variables, and what each says in terms of the configuration. Text is parsed where it is used. */
const VARIABLES: Readonly<Record<string, (text: string) => Config>> = {
  STORE: (store) => ({ store }),
  TASKS: (text) => ({ tasks: text.split(',').map((path) => path.trim()) }),
  PROCESSES: (text) => ({ processes: wholeNumber(text, 'TRIPHAMMER_PROCESSES') }),
  PAYLOAD_LIMIT: (text) => ({ payloadLimit: wholeNumber(text, 'TRIPHAMMER_PAYLOAD_LIMIT') }),
  QUEUES: (text) => ({ worker: { queues: parseQueues(text.split(','), 'TRIPHAMMER_QUEUES') } }),
  LEASE: (lease) => ({ worker: { lease } }),
  POLL: (poll) => ({ worker: { poll } }),
  PULSE: (pulse) => ({ worker: { pulse } }),
  GRACE: (grace) => ({ worker: { grace } }),
  TIMEOUT: (timeout) => ({ worker: { timeout } }),
  MAX_ATTEMPTS: (text) => ({ worker: { maxAttempts: wholeNumber(text, 'TRIPHAMMER_MAX_ATTEMPTS') } }),
}

/** The file of the configuration, if a variable names one. */
export const CONFIG_VARIABLE = 'TRIPHAMMER_CONFIG'

/**
 * What the environment says. Empty variables say nothing.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`: a variable that begins with `TRIPHAMMER_` and means nothing; `INVALID_OPTION`
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Config {
  let config: Config = {}
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || name === CONFIG_VARIABLE || text === undefined || text === '') continue
    const read = Object.hasOwn(VARIABLES, name.slice(PREFIX.length)) ? VARIABLES[name.slice(PREFIX.length)] : undefined
    if (!read) {
      const known = [CONFIG_VARIABLE, ...Object.keys(VARIABLES).map((key) => PREFIX + key)]
      throw new TriphammerError('UNKNOWN_OPTION', `the environment has ${name}, which means nothing; known are ${known.join(', ')}`)
    }
    config = overlaid(config, read(text))
  }
  return config
}

/** A configuration with what another says in its place; options of the worker one by one. */
function overlaid(under: Config, over: Config): Config {
  const worker = { ...under.worker, ...over.worker }
  return { ...under, ...over, ...(Object.keys(worker).length === 0 ? {} : { worker }) }
}

/**
 * Queues as a command line writes them: `mail=20`, or `mail` with the default concurrency.
 *
 * @throws TriphammerError `INVALID_OPTION`
 */
export function parseQueues(texts: readonly string[], what: string): Record<string, QueueOptions> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.lastIndexOf('=')
      const name = (at < 0 ? text : text.slice(0, at)).trim()
      return [name, at < 0 ? {} : { concurrency: wholeNumber(text.slice(at + 1), `${what}: the concurrency of ${name}`) }]
    }),
  )
}

/**
 * A whole number written in digits.
 *
 * @throws TriphammerError `INVALID_OPTION`
 */
export function wholeNumber(text: string, what: string): number {
  if (/^-?\d{1,15}$/.test(text.trim())) return Number(text)
  throw new TriphammerError('INVALID_OPTION', `${what}: ${show(text)} is not a whole number`)
}
