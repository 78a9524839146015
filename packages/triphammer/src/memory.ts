/**
 * The store for tests: everything in this process, and gone with it.
 *
 * @module
 */

export { type EnqueueClaimed, type MemoryOptions, type MemoryStore, memory, type StoredJob } from './stores/memory/store.ts'
