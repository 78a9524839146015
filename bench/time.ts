/**
 * Milliseconds on a clock that all processes of the machine share and that never goes back. It starts anywhere; differences
 * of it are durations, also between processes.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Resolves after `ms` milliseconds. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
