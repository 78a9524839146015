export type { SqliteOptions } from './stores/sqlite/options.ts'
export { sqlite } from './stores/sqlite/store.ts'
