import { type ErrorCode, isTriphammerError } from '../core/errors.ts'
import { jsonText, printable } from './printable.ts'
import type { World } from './world.ts'

/** Exit codes. */
export const EXIT = {
  ok: 0,
  /** Something failed, was refused or was not found. */
  failed: 1,
  /** The command line or the configuration is wrong; nothing was done. */
  usage: 2,
} as const

/** One of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const USAGE: ReadonlySet<ErrorCode> = new Set([
  ...(['UNKNOWN_OPTION', 'INVALID_OPTION', 'INVALID_NAME', 'INVALID_DURATION', 'INVALID_ID', 'TEXT_INVALID', 'LOAD_FAILED'] as const),
  ...(['DUPLICATE_TASK', 'DUPLICATE_HANDLER', 'NO_HANDLER'] as const),
])

/** The exit code of an error. */
export function exitCodeOf(error: unknown): ExitCode {
  return isTriphammerError(error) && USAGE.has(error.code) ? EXIT.usage : EXIT.failed
}

/** Tells an error on standard error: what happened and the way out; the stack only of what is no error of ours. */
export function tellError(error: unknown, world: World, json: boolean): void {
  const { code, message } = described(error)
  if (json) world.err(`${jsonText({ error: { code, message } })}\n`)
  else world.err(`error: ${printable(message, 'lines')}\n${isTriphammerError(error) ? `code: ${code}\n` : ''}`)
}

/** Tells what is wrong with the command line itself, in the words of its parser, which quote it. */
export function tellUsage(text: string, world: World, json: boolean): void {
  if (json) world.err(`${jsonText({ error: { code: 'USAGE', message: text.replace(/^error: /, '').trim() } })}\n`)
  else world.err(printable(text, 'lines'))
}

function described(error: unknown): { readonly code: string; readonly message: string } {
  if (isTriphammerError(error)) return { code: error.code, message: error.message }
  if (error instanceof Error) return { code: error.name, message: error.stack ?? error.message }
  return { code: 'Error', message: String(error) }
}
