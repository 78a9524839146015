const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Calls `stop` on the first SIGTERM or SIGINT and again on the next, which hurries it. Resolves when `ended` has settled;
 * the process's signals are then as they were.
 */
export async function untilSignalled(ended: Promise<void>, stop: () => Promise<void>): Promise<void> {
  const onSignal = (): void => void stop().catch(() => {}) // whoever waits for `ended` is told
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    await ended
  } catch {
    // the caller awaits `ended` itself
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
