import { defineTask, exponential, fixed, type Task } from 'triphammer'
import type { EntryName } from './names.ts'

/** Walk a folder and enqueue a job for each entry below it. */
export interface ScanPayload extends EntryName {
  readonly run: string
  readonly root: string
}

/** Look at one entry of the tree. */
export interface IndexPayload extends EntryName {
  readonly root: string
}

/** Gather what the other jobs of the run found. */
export interface ReportPayload {
  readonly run: string
  readonly root: string
  /** The how-manieth run over this folder, from 1. */
  readonly number: number
}

/** A file that cannot be read this often is given up and listed in the report. */
export const TRIES = 4

// A file that is locked or has vanished may be back in a moment; when the process has too many files open, all jobs have, so
// they spread out. A path that is too long stays too long.
const retry = exponential({
  base: '250ms',
  max: '2s',
  jitter: 0.2,
  errors: {
    ENOENT: fixed('400ms'),
    EACCES: fixed('400ms'),
    EPERM: fixed('400ms'),
    EMFILE: exponential({ base: '1s', max: '5s', jitter: 0.5 }),
    ENFILE: exponential({ base: '1s', max: '5s', jitter: 0.5 }),
    ENAMETOOLONG: 'dead',
  },
})

// A run must find all its jobs again, however long it was left alone: they are kept until the next run deletes them.
const retain = '36500d'

// The attempts that a killed copy used up count too, so there are more of them than TRIES.
const policy = { retry, retain, maxAttempts: 25 }

/** Goes first, so that the number of files is soon known. */
export const scanFolder: Task<ScanPayload, ScanPayload> = defineTask<ScanPayload>('demo.scan', { ...policy, priority: 'high' })

export const indexEntry: Task<IndexPayload, IndexPayload> = defineTask<IndexPayload>('demo.index', policy)

/** Goes last. */
export const writeReport: Task<ReportPayload, ReportPayload> = defineTask<ReportPayload>('demo.report', {
  ...policy,
  priority: 'background',
})
