import { appendFileSync } from 'node:fs'
import type { Logger } from 'triphammer'

/** A logger that writes warnings and errors to a file, one JSON object a line: on the screen they would tear the progress bar. */
export function createLogFile(file: string): Logger {
  const writer =
    (level: string) =>
    (fields: object, message: string): void => {
      const line = JSON.stringify({ at: new Date().toISOString(), level, pid: process.pid, message, ...plain(fields) })
      appendFileSync(file, `${line}\n`)
    }
  return { debug: () => {}, info: () => {}, warn: writer('warn'), error: writer('error') }
}

// An Error has no enumerable properties: JSON would show it as {}.
function plain(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? { ...value, message: value.message } : value]),
  )
}
