import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { TriphammerError } from '../core/errors.ts'
import { show } from '../core/text.ts'
import type { World } from './world.ts'

/** Where payloads come from. */
export interface PayloadSource {
  /** JSON as an argument; `-`: standard input. */
  readonly text: string | undefined
  readonly file: string | undefined
}

/** A payload and the line that it stood in, from 1. */
export interface PayloadLine {
  readonly line: number
  readonly payload: unknown
}

/**
 * The payload of one job; without a source `undefined`.
 *
 * @throws TriphammerError `PAYLOAD_NOT_JSON`, `LOAD_FAILED`, `INVALID_OPTION`
 */
export async function readPayload(source: PayloadSource, world: World): Promise<unknown> {
  const text = await readText(source, world)
  return text === undefined ? undefined : parse(text, 'the payload')
}

/**
 * The payloads of many jobs, one to a line; empty lines are none. All are read before the first is used.
 *
 * @throws TriphammerError `PAYLOAD_NOT_JSON`, `LOAD_FAILED`, `INVALID_OPTION`
 */
export async function readPayloadLines(source: PayloadSource, world: World): Promise<readonly PayloadLine[]> {
  if (source.text !== undefined && source.text !== '-') {
    throw new TriphammerError('INVALID_OPTION', '--lines reads standard input or a file; give no payload, or - or --file')
  }
  const text = await readText(source.file === undefined ? { ...source, text: '-' } : source, world)
  return (text ?? '').split('\n').flatMap((json, n) => (json.trim() === '' ? [] : [{ line: n + 1, payload: parse(json, `line ${n + 1}`) }]))
}

async function readText({ text, file }: PayloadSource, world: World): Promise<string | undefined> {
  if (file === undefined) return text === '-' ? withoutMark(await world.readInput()) : text
  if (text !== undefined) throw new TriphammerError('INVALID_OPTION', 'the payload is given twice, as an argument and by --file')
  try {
    return withoutMark(await readFile(resolve(world.cwd, file), 'utf8'))
  } catch (error) {
    throw new TriphammerError('LOAD_FAILED', `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

// Some editors and shells begin a text with a byte order mark, which is no JSON.
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TriphammerError('PAYLOAD_NOT_JSON', `${what} is not JSON: ${show(text)}; text stands in double quotes there: '"text"'`, {
      cause: error,
    })
  }
}
