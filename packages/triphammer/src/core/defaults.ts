/** Every default of the library, in one place. Durations are in milliseconds. */
export const DEFAULTS = {
  queue: 'default',
  priority: 0,
  maxAttempts: 25,
  /** Concurrency of a queue: handlers that run at once in one worker. */
  concurrency: 10,
  /** Prefetch of a queue, claimed and unfinished at most: this many times its concurrency … */
  prefetchFactor: 10,
  /** … and never more than this. */
  prefetchMax: 500,
  leaseMs: 60_000,
  /** Pause between two looks of an idle worker that nothing woke. */
  pollMs: 1_000,
  /** The worker's pulse: how soon it learns of a cancel or a pause. */
  pulseMs: 1_000,
  graceMs: 30_000,
  /** A held job is handed back after this long without starting, when another worker waits for work. */
  handBackMs: 5_000,
  /** A worker that was not heard of for longer is not believed to wait for work … */
  sessionLiveMs: 30_000,
  /** … and after this long it is forgotten. */
  sessionForgetMs: 300_000,
  payloadBytes: 1_048_576,
  resultBytes: 1_048_576,
  /** How long a completed job is kept: 7 days. An unsuccessful one is kept until it is purged. */
  retainMs: 604_800_000,
} as const
