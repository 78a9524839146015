import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createJiti } from 'jiti'
import { TriphammerError } from '../core/errors.ts'

/** Endings of files that can be loaded as modules. */
export const MODULE_ENDINGS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'] as const

const jiti = createJiti(import.meta.url, { interopDefault: false, tsconfigPaths: true })

/**
 * Loads a module of the user's, TypeScript or JavaScript, or a JSON file as the default export.
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
    if (ending.endsWith('ts')) return await jiti.import(file)
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new TriphammerError('LOAD_FAILED', `${file} cannot be loaded: ${why}`, { cause: error })
  }
}
