/**
 * The embedded store: a SQLite file, for any number of processes on one machine.
 *
 * @module
 */

export type { SqliteDriverName } from './sql/sqlite-connection.ts'
export type { SqliteOptions } from './stores/sqlite/options.ts'
export { sqlite } from './stores/sqlite/store.ts'
