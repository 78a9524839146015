import type { Migration } from '../../../store/store.ts'
import { jobs } from './001-jobs.ts'

/** Every step of the schema, in order. A step that has been released never changes. */
export const MIGRATIONS: readonly Migration[] = [jobs]
