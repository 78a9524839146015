import { createHistogram } from 'node:perf_hooks'

/** How long jobs took from their enqueue to their finish, in milliseconds: half of them at most p50, 95 of 100 at most p95 … */
export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** Collects latencies in constant memory; the figures are good to three digits. */
export interface Latencies {
  add(ms: number): void
  /** `undefined` before the first. */
  percentiles(): Percentiles | undefined
}

/** Makes {@link Latencies}. */
export function createLatencies(): Latencies {
  const histogram = createHistogram()
  return {
    add: (ms) => histogram.record(Math.max(1, Math.round(ms))),
    percentiles() {
      if (histogram.count === 0) return undefined
      return { p50: histogram.percentile(50), p95: histogram.percentile(95), p99: histogram.percentile(99) }
    },
  }
}
