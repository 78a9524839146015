import { memory } from '../src/memory.ts'
import type { StoreUnderTest } from './harness.ts'

/** The stores that the contracts run on: one line each. */
export const STORES: readonly StoreUnderTest[] = [{ name: 'memory', connect: ({ clock, ids, once }) => once(() => memory({ clock, ids })) }]
