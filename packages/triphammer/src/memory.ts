export { type MemoryOptions, memory } from './stores/memory/store.ts'
