import { TriphammerError } from './errors.ts'
import { hearRejection } from './late.ts'

/**
 * Where the library writes its log. A pino or a winston logger fits as it is: fields first, then the sentence.
 */
export interface Logger {
  /** What happens to single jobs. */
  debug(fields: object, message: string): void
  /** Starts, stops and the like. */
  info(fields: object, message: string): void
  /** Something is not as it should be, and the library goes on. */
  warn(fields: object, message: string): void
  /** Something has been lost or left undone: a person should look. */
  error(fields: object, message: string): void
}

/** The log of someone who said nothing about it: warnings and errors, on standard error. */
const consoleLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: print('warn'),
  error: print('error'),
}

// What handlers throw is among the fields, and some of it throws when it is shown.
function print(method: 'warn' | 'error') {
  return (fields: object, message: string): void => {
    try {
      console[method](`triphammer: ${message}`, fields)
    } catch {
      console[method](`triphammer: ${message} (the details cannot be shown)`)
    }
  }
}

/** No log at all: what `logger: false` means. */
const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const METHODS = ['debug', 'info', 'warn', 'error'] as const

/**
 * The logger that an option means: the console's warnings and errors if nothing was said, none for `false`, else the
 * user's, guarded, since a log that fails must not take a job with it.
 *
 * @throws TriphammerError `INVALID_OPTION`: not a logger
 */
export function parseLogger(given: Logger | false | undefined, what: string): Logger {
  if (given === undefined) return consoleLogger
  if (given === false) return silentLogger
  if (typeof given !== 'object' || given === null || METHODS.some((method) => typeof given[method] !== 'function')) {
    throw new TriphammerError(
      'INVALID_OPTION',
      `${what}: logger must be false or have ${METHODS.join(', ')}, each taking fields and a message`,
    )
  }
  const failed = (error: unknown): void => consoleLogger.error({ error }, 'the logger threw')
  const guarded = (method: (typeof METHODS)[number]) => (fields: object, message: string) => {
    try {
      const returned: unknown = given[method](fields, message)
      hearRejection(returned, failed)
    } catch (error) {
      failed(error)
    }
  }
  return { debug: guarded('debug'), info: guarded('info'), warn: guarded('warn'), error: guarded('error') }
}

/** A logger that adds `fields` to everything it writes. */
export function childLogger(parent: Logger, fields: object): Logger {
  return {
    debug: (more, message) => parent.debug({ ...fields, ...more }, message),
    info: (more, message) => parent.info({ ...fields, ...more }, message),
    warn: (more, message) => parent.warn({ ...fields, ...more }, message),
    error: (more, message) => parent.error({ ...fields, ...more }, message),
  }
}
