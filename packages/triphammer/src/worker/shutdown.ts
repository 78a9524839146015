const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Waits for `work`, and calls `stop` on the first SIGTERM or SIGINT and again on the next, which hurries it. It listens from
 * the moment of the call: a signal that comes while the work is still starting counts as well. Once `work` has settled, the
 * process's signals are as they were.
 */
export async function heedSignals(work: Promise<void>, stop: () => Promise<void>): Promise<void> {
  const onSignal = (): void => void stop().catch(() => {}) // whoever waits for `work` is told
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    await work
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
