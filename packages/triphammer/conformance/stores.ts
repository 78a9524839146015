import { join } from 'node:path'
import { memory } from '../src/memory.ts'
import { sqlite } from '../src/sqlite.ts'
import type { StoreUnderTest } from './store-under-test.ts'

/** The stores that the contracts run on: one line each. */
export const STORES: readonly StoreUnderTest[] = [
  { name: 'memory', connect: ({ clock, ids, once }) => once(() => memory({ clock, ids })) },
  { name: 'sqlite', connect: ({ clock, ids, folder }) => sqlite(join(folder(), 'jobs.db'), { clock, ids }) },
]
