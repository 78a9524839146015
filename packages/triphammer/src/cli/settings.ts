import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { TriphammerError } from '../core/errors.ts'
import type { Plugin, Store } from '../index.ts'
import { type Config, checkConfig } from './config.ts'
import { CONFIG_VARIABLE, readEnvironment } from './environment.ts'
import { loadModule } from './load-module.ts'
import type { World } from './world.ts'

/**
 * What configuration, environment and options come to. Later ones win: the configuration, then `TRIPHAMMER_*`, then options.
 */
export interface Settings {
  /** The file that was read, if there was one. */
  readonly configFile?: string
  readonly store?: Store | string
  /** What a relative path in `store` is relative to: the folder of the configuration, or the working directory. */
  readonly folder: string
  /** Absolute paths. */
  readonly tasks: readonly string[]
  readonly processes: number
  readonly plugins: readonly Plugin[]
  readonly payloadLimit?: number
  readonly worker: NonNullable<Config['worker']>
}

const NAMES = ['ts', 'mts', 'js', 'mjs', 'json'].map((ending) => `triphammer.config.${ending}`)

/**
 * Reads the configuration and the environment, and lays the options over them.
 *
 * @throws TriphammerError `LOAD_FAILED`, `UNKNOWN_OPTION`, `INVALID_OPTION`
 */
export async function loadSettings(
  { cwd, env }: Pick<World, 'cwd' | 'env'>,
  flags: { readonly store?: string; readonly config?: string },
): Promise<Settings> {
  const configFile = findConfig(cwd, flags.config ?? (env[CONFIG_VARIABLE] || undefined))
  const file = configFile === undefined ? {} : checkConfig(await exported(configFile), configFile)
  const environment = checkConfig(readEnvironment(env), 'the environment')
  const home = configFile === undefined ? cwd : dirname(configFile)
  const storeGiven = flags.store ?? environment.store
  const tasksOf = (config: Config, folder: string): string[] | undefined =>
    config.tasks === undefined ? undefined : [config.tasks].flat().map((path) => resolve(folder, path))
  const store = storeGiven ?? file.store
  const plugins = file.plugins ?? []
  const payloadLimit = environment.payloadLimit ?? file.payloadLimit
  return {
    ...(configFile === undefined ? {} : { configFile }),
    ...(store === undefined ? {} : { store }),
    folder: storeGiven === undefined ? home : cwd,
    tasks: tasksOf(environment, cwd) ?? tasksOf(file, home) ?? [],
    processes: environment.processes ?? file.processes ?? 1,
    plugins,
    ...(payloadLimit === undefined ? {} : { payloadLimit }),
    worker: { ...file.worker, ...environment.worker },
  }
}

function findConfig(cwd: string, named: string | undefined): string | undefined {
  if (named !== undefined) {
    const file = resolve(cwd, named)
    if (existsSync(file)) return file
    throw new TriphammerError('LOAD_FAILED', `there is no configuration ${file}`)
  }
  const found = NAMES.map((name) => resolve(cwd, name)).filter((file) => existsSync(file))
  if (found.length <= 1) return found[0]
  throw new TriphammerError('INVALID_OPTION', `there are several configurations: ${found.join(', ')}; keep one, or name it with --config`)
}

async function exported(file: string): Promise<unknown> {
  const module = await loadModule(file)
  if ('default' in module) return module['default']
  throw new TriphammerError('INVALID_OPTION', `${file} has no default export; write \`export default { … }\``)
}
