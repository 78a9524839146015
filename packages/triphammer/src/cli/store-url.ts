import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { TriphammerError } from '../core/errors.ts'
import { show } from '../core/text.ts'
import { DEFAULT_FILE, type Store } from '../index.ts'
import { type SqliteOptions, sqlite } from '../sqlite.ts'
import type { Settings } from './settings.ts'

/**
 * How a store is opened. `look`: it must be there and in order, and is not changed by being opened. `change`: it is made, and
 * brought up to date, as a client of the library would. `migrate`: it is made, and left as it is until it is migrated.
 */
export type OpenMode = 'look' | 'change' | 'migrate'

const PARAMETERS = ['synchronous', 'driver', 'walLimitBytes']

/**
 * Opens the store of the settings.
 *
 * @throws TriphammerError `INVALID_OPTION`, `UNKNOWN_OPTION`; `SCHEMA_MISSING`: there is no such file, and it is only to be looked at
 */
export function openStore({ store, folder }: Pick<Settings, 'store' | 'folder'>, mode: OpenMode): Store {
  if (typeof store === 'object') return store
  const { path, options } = parseStoreUrl(store ?? DEFAULT_FILE)
  const file = resolve(folder, path)
  if (mode === 'look' && !existsSync(file)) {
    throw new TriphammerError(
      'SCHEMA_MISSING',
      `there is no database ${file}; name another with --store, or make it with \`triphammer migrate\``,
    )
  }
  return sqlite(file, { ...options, migrate: mode === 'change' })
}

/** The store of the settings in a few words, without secrets. */
export function describeStore({ store, folder }: Pick<Settings, 'store' | 'folder'>): string {
  if (typeof store === 'object') return store.info.name
  return `sqlite, ${resolve(folder, parseStoreUrl(store ?? DEFAULT_FILE).path)}`
}

/**
 * The file and the options in the text of a store: the path of a file, or `sqlite:PATH`, then as in a URL, e.g.
 * `sqlite:jobs.db?synchronous=normal`.
 *
 * @throws TriphammerError `INVALID_OPTION`, `UNKNOWN_OPTION`
 */
export function parseStoreUrl(text: string): { readonly path: string; readonly options: SqliteOptions } {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]+):(.*)$/is.exec(text) ?? []
  if (scheme === undefined) return { path: checkPath(text), options: {} }
  if (scheme.toLowerCase() !== 'sqlite') {
    // The rest may hold a password.
    throw new TriphammerError('INVALID_OPTION', `store: ${scheme}: is no store of this version; give sqlite:PATH or the path of a file`)
  }
  const [path = '', query = ''] = rest.replace(/^\/\//, '').split(/\?(.*)/s)
  return { path: checkPath(decoded(path)), options: parseParameters(new URLSearchParams(query)) }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new TriphammerError(
      'INVALID_OPTION',
      `store: ${show(path)} has a % that begins no code; write %25, or give the path without sqlite:`,
    )
  }
}

function checkPath(path: string): string {
  if (path !== '' && path !== ':memory:') return path
  throw new TriphammerError('INVALID_OPTION', `store: ${show(path)} is not the path of a file; a store in memory lives within one process`)
}

function parseParameters(query: URLSearchParams): SqliteOptions {
  const given = Object.fromEntries(query)
  const unknown = Object.keys(given).find((key) => !PARAMETERS.includes(key))
  if (unknown !== undefined) {
    throw new TriphammerError('UNKNOWN_OPTION', `store: unknown parameter ${show(unknown)}; known are ${PARAMETERS.join(', ')}`)
  }
  const { walLimitBytes, ...rest } = given
  // What they may be is checked by the store.
  return { ...rest, ...(walLimitBytes === undefined ? {} : { walLimitBytes: Number(walLimitBytes) }) } as SqliteOptions
}
