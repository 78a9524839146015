import { type JobFailure, toFailure } from '../core/failure.ts'
import { show } from '../core/text.ts'
import type { Logger } from '../index.ts'
import { jsonText, printable } from './printable.ts'
import { withoutSecrets } from './secrets.ts'
import type { World } from './world.ts'

/** What a verb that runs for long tells while it does: one line for each thing, dated, with the number of the process. */
export interface Lines {
  /** Tells on standard output what happens. With `--json` the line is an object of `at`, `event` and the fields. */
  tell(event: string, fields: object, text: string): void
  /** Tells on standard error what should not happen. With `--json` the line is an object of `at`, `level`, `message` and the fields. */
  readonly log: Logger
}

/** How {@link Lines} are written. */
export interface LinesOptions {
  readonly world: Pick<World, 'out' | 'err' | 'clock' | 'child'>
  readonly json: boolean
  /** Debugging and stacks as well. */
  readonly verbose: boolean
}

/** Makes {@link Lines}. */
export function createLines({ world, json, verbose }: LinesOptions): Lines {
  const { clock, child } = world
  const line = (head: object, fields: object, text: string): string => {
    const at = new Date(clock.now()).toISOString()
    if (!json) return `${child === undefined ? '' : `[${child.number}] `}${at} ${text}\n`
    const own = { at, ...(child === undefined ? {} : { process: child.number }), ...head }
    // Twice: first in place, and no field of somebody's can stand for it.
    return `${jsonText({ ...own, ...fields, ...own })}\n`
  }
  const log =
    (level: keyof Logger) =>
    (given: object, message: string): void => {
      const fields = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, plain(value)] as const]))
      const told = fields.map(([name, value]) => `${printable(name)}=${shown(value)}`).join(' ')
      const text = `${level.padEnd(5)} ${printable(message)}${told === '' ? '' : `  ${told}`}`
      world.err(line({ level, message }, Object.fromEntries(fields), verbose ? [text, ...stacksOf(fields)].join('\n') : text))
    }
  return {
    tell: (event, fields, text) => world.out(withoutSecrets(line({ event }, fields, text))),
    log: { debug: verbose ? log('debug') : () => {}, info: log('info'), warn: log('warn'), error: log('error') },
  }
}

// Handlers log what they like; whatever it is, the line is written.
function plain(value: unknown): unknown {
  if (isFailure(value)) return toFailure(value)
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as unknown
  } catch {
    return show(value)
  }
}

function isFailure(value: unknown): value is JobFailure {
  return value instanceof Error || (typeof value === 'object' && value !== null && 'name' in value && 'message' in value)
}

const LONGEST = 400

function shown(value: unknown): string {
  const text = isFailure(value) ? `${value.name}: ${value.message}` : typeof value === 'string' ? value : JSON.stringify(value)
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text
  return /^[\w.:/@-]+$/.test(cut) ? cut : `"${printable(cut)}"`
}

function stacksOf(fields: readonly (readonly [string, unknown])[]): readonly string[] {
  return fields.flatMap(([, value]) => (isFailure(value) && value.stack !== undefined ? [printable(value.stack, 'lines')] : []))
}
