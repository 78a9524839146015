export { type EnqueueClaimed, type MemoryOptions, type MemoryStore, memory, type StoredJob } from './stores/memory/store.ts'
