import { tmpdir } from 'node:os'
import { runCommandLine } from '../../src/cli/command-line.ts'
import type { World } from '../../src/cli/world.ts'
import { systemClock } from '../../src/core/clock.ts'

/** What a command line did. */
export interface Told {
  readonly code: number
  readonly out: string
  readonly err: string
  /** Standard output as the one JSON document that `--json` promises. */
  json<Value>(): Value
}

/** Runs a command line in a world of its own: no environment, no input, no terminal, unless the test says so. */
export async function triphammer(argv: readonly string[], world: Partial<World> & { readonly input?: string } = {}): Promise<Told> {
  const { input = '', ...given } = world
  let out = ''
  let err = ''
  const code = await runCommandLine(argv, {
    env: {},
    cwd: tmpdir(),
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    readInput: async () => input,
    columns: undefined,
    isInteractive: false,
    clock: systemClock,
    onSignal: () => () => {},
    fork: () => {
      throw new Error('this world has one process')
    },
    ...given,
  })
  return { code, out, err, json: <Value>() => JSON.parse(out) as Value }
}
