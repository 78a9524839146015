import type { Command } from 'commander'
import { type Client, createClient, type Store } from '../index.ts'
import { EXIT, type ExitCode } from './errors.ts'
import { jsonText } from './printable.ts'
import { loadSettings, type Settings } from './settings.ts'
import { type OpenMode, openStore } from './store-url.ts'
import type { World } from './world.ts'

/** What every verb of the command line shares. */
export interface CommandLine {
  readonly world: World
  /** Takes the exit code of the verb that was run. */
  readonly ended: (code: ExitCode) => void
}

/** What a verb works with. */
export interface Run {
  readonly world: World
  /** Whether the output is for programs. */
  readonly json: boolean
  /** From the configuration, the environment and the options. */
  readonly settings: Settings
  /** The store that was named. It is closed when the verb has ended. */
  store(mode: OpenMode): Store
  /** A client on it. */
  open(mode: OpenMode): Client
  /** Writes a result: JSON for programs, text for people. */
  print(value: unknown, text: () => string): void
}

/** A verb: what it is called and takes, an example for its help, and what it does. */
export interface Verb<Flags extends object> {
  /** As commander writes it: `show <id>`. */
  readonly name: string
  readonly summary: string
  /** Whole command lines; at least one. */
  readonly examples: readonly [string, ...string[]]
  /** Adds options. */
  readonly options?: (command: Command) => Command
  /** @returns the exit code; nothing means that all went well */
  readonly run: (run: Run, flags: Flags, ...args: readonly never[]) => Promise<ExitCode | undefined>
}

/** Options that every verb has. */
interface CommonFlags {
  readonly store?: string
  readonly config?: string
  readonly json?: boolean
}

/** Adds a verb to a noun, or to the program. */
export function addVerb<Flags extends object>(parent: Command, { world, ended }: CommandLine, verb: Verb<Flags>): void {
  const command = parent.command(verb.name).description(verb.summary)
  const examples = verb.examples.map((example) => `  $ ${example}`).join('\n')
  const withOptions = verb.options?.(command) ?? command
  withOptions.addHelpText('after', `\nExamples:\n${examples}`).action(async (...call: unknown[]) => {
    // Commander hands the arguments, then the options and the command.
    const { store, config, json = false, ...flags } = command.optsWithGlobals<CommonFlags & Flags>()
    const settings = await loadSettings(world, { ...(store === undefined ? {} : { store }), ...(config === undefined ? {} : { config }) })
    const stores = new Set<Store>()
    const run: Run = {
      world,
      json,
      settings,
      store(mode) {
        const opened = world.store ?? openStore(settings, mode)
        stores.add(opened)
        return opened
      },
      open: (mode) =>
        createClient({
          store: run.store(mode),
          plugins: settings.plugins,
          logger: false,
          clock: world.clock,
          ...(settings.payloadLimit === undefined ? {} : { payloadLimit: settings.payloadLimit }),
        }),
      print: (value, text) => world.out(json ? `${jsonText(value, 2)}\n` : withLineEnd(text())),
    }
    try {
      ended((await verb.run(run, flags as unknown as Flags, ...(call.slice(0, -2) as never[]))) ?? EXIT.ok)
    } finally {
      if (!world.store) for (const opened of stores) await opened.close()
    }
  })
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
