/** How much of each thing is done. */
export interface Sizes {
  readonly rounds: number
  readonly bulkJobs: number
  readonly singleJobs: number
  readonly drainJobs: number
  /** Jobs that a process drains beforehand. */
  readonly warmUpJobs: number
  /** Due jobs that stay behind those that are drained; as many again are due tomorrow, before them in order. */
  readonly backlogJobs: number
  /** Jobs for each way of claiming. */
  readonly claimJobs: number
  readonly logJobs: number
  readonly wakeUps: number
  readonly wakeUpEveryMs: number
  readonly idleMs: number
}

/** The sizes whose figures mean something. */
export const FULL: Sizes = {
  rounds: 3,
  bulkJobs: 50_000,
  singleJobs: 500,
  drainJobs: 50_000,
  warmUpJobs: 20_000,
  backlogJobs: 1_000_000,
  claimJobs: 2_000,
  logJobs: 2_000,
  wakeUps: 100,
  wakeUpEveryMs: 150,
  idleMs: 10_000,
}

/** Enough to see that everything works, and nothing more: these figures mean nothing. */
export const QUICK: Sizes = {
  rounds: 1,
  bulkJobs: 2_000,
  singleJobs: 20,
  drainJobs: 2_000,
  warmUpJobs: 400,
  backlogJobs: 3_000,
  claimJobs: 100,
  logJobs: 1_000,
  wakeUps: 3,
  wakeUpEveryMs: 150,
  idleMs: 500,
}
