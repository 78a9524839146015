/**
 * Where the library writes its log. A pino or a winston logger fits as it is: fields first, then the sentence.
 */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The log of someone who said nothing about it: warnings and errors, on standard error. */
export const consoleLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (fields, message) => console.warn(`triphammer: ${message}`, fields),
  error: (fields, message) => console.error(`triphammer: ${message}`, fields),
}

/** No log at all: what `logger: false` means. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A logger that adds `fields` to everything it writes. */
export function childLogger(parent: Logger, fields: object): Logger {
  return {
    debug: (more, message) => parent.debug({ ...fields, ...more }, message),
    info: (more, message) => parent.info({ ...fields, ...more }, message),
    warn: (more, message) => parent.warn({ ...fields, ...more }, message),
    error: (more, message) => parent.error({ ...fields, ...more }, message),
  }
}
