import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createJiti } from 'jiti'
import { TriphammerError } from '../core/errors.ts'

const TYPESCRIPT = ['.ts', '.mts', '.cts', '.tsx']

/** Endings of files that can be loaded as modules. */
export const MODULE_ENDINGS: readonly string[] = [...TYPESCRIPT, '.js', '.mjs', '.cjs']

const jiti = createJiti(import.meta.url, {
  interopDefault: false,
  tsconfigPaths: true,
  jsx: { runtime: 'automatic' },
  // JavaScript is left to Node.js, whoever imports it: loaded by both, a module would be there twice, with two connections
  // and two tasks of the same name.
  extensions: TYPESCRIPT,
  fsCache: cacheFolder(),
})

/**
 * Loads a module of the user's, TypeScript or JavaScript, or a JSON file as the default export. A module is evaluated once,
 * however often and by whomever it is loaded.
 *
 * TypeScript goes through a loader on every version of Node.js: the types that newer ones strip by themselves are only some
 * of the language, and a project that works here shall work there.
 *
 * @param file an absolute path
 * @throws TriphammerError `LOAD_FAILED`
 */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const ending = extname(file)
    if (ending === '.json') return { default: JSON.parse(await readFile(file, 'utf8')) as unknown }
    if (TYPESCRIPT.includes(ending)) return await jiti.import(file)
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new TriphammerError('LOAD_FAILED', `${file} cannot be loaded: ${why}${placeOf(error)}`, { cause: error })
  }
}

// Where it was thrown: a module that imports others tells too little by its own name.
function placeOf(error: unknown): string {
  const frames = error instanceof Error ? (error.stack?.match(/^ +at .*$/gm) ?? []) : []
  const frame = frames.find((line) => !line.includes('node:'))
  const [, place] = /([^( ]+:\d+:\d+)\)?$/.exec(frame ?? '') ?? []
  return place === undefined || place.includes('/jiti/') ? '' : ` (at ${place})`
}

// Translated files are kept beside the packages where this one is installed, and nowhere else: the folder for temporary files,
// where the loader would put them, may be written to by anyone on the machine, and what is in there is run.
function cacheFolder(): string | false {
  const [, packages] = /^(.*[\\/]node_modules)[\\/]/.exec(fileURLToPath(import.meta.url)) ?? []
  return packages === undefined ? false : join(packages, '.cache', 'triphammer')
}
