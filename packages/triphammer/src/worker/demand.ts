import type { QueueConfig } from './options.ts'

/** What a queue's demand depends on. */
export interface DemandState {
  /** Claimed and unfinished, less those whose outcomes travel with the claim. */
  readonly claimed: number
  readonly held: number
  readonly running: number
  /** Another worker stands idle in this queue. */
  readonly wanted: boolean
  /** Jobs of this queue that started in the last second. */
  readonly recentStarts: number
}

/**
 * How many jobs to claim.
 *
 * Up to `prefetch` are held so that no handler waits for a round trip; but claims are worth a round trip only in batches, so
 * a queue asks when half of its prefetch is free, or when a handler would otherwise stand idle. While another worker stands
 * idle, a queue takes no more than it will start within about a second.
 */
export function demandOf({ concurrency, prefetch }: QueueConfig, { claimed, held, running, wanted, recentStarts }: DemandState): number {
  const allowance = wanted ? Math.min(prefetch, concurrency + recentStarts) : prefetch
  const free = allowance - claimed
  if (free <= 0) return 0
  const idle = held === 0 && running < concurrency
  return idle || free * 2 >= prefetch ? free : 0
}
