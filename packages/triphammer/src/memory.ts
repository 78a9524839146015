export { memory, type MemoryOptions } from './stores/memory/store.ts'
