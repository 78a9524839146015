import type { Migration } from '../../../store/store.ts'
import { jobs } from './001-jobs.ts'

/**
 * Every step of the schema, in order. A step that has been released never changes. Each changes the schema itself, if only by
 * making the view anew: that is how a running store notices it.
 */
export const MIGRATIONS: readonly Migration[] = [jobs]
