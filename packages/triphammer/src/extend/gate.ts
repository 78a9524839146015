/** What a gate lets through. */
export interface Grant {
  readonly granted: number
  /** When it would let more through, if it knows; otherwise the worker asks again at its next poll. */
  readonly retryInMs?: number
}

/**
 * Lowers the demand of one worker before it claims: a rate limit, a throttle. What is granted is spent, unless it comes
 * back through `refund`. Limits that span processes are enforced inside the claim instead.
 */
export interface Gate {
  readonly name: string
  /** How many of `want` jobs the worker may claim from the queue now. */
  take(queue: string, want: number): Grant
  /** Grants that were not used: nothing was there to claim, or the job was given up unstarted or lost. */
  refund(queue: string, count: number): void
  /** Runs that have ended and whose finish has been answered: what a gate counts as at work, no longer is. */
  done?(queue: string, count: number): void
}

/** All gates of a worker as one: each lowers what the one before granted, and what a later one denies goes back. */
export function combineGates(gates: readonly Gate[]): Gate {
  return {
    name: 'all',
    take(queue, want) {
      let granted = want
      let retryInMs: number | undefined
      const passed: Gate[] = []
      for (const gate of gates) {
        if (granted === 0) break
        const grant = gate.take(queue, granted)
        for (const earlier of passed) if (grant.granted < granted) earlier.refund(queue, granted - grant.granted)
        if (grant.granted < granted && grant.retryInMs !== undefined) retryInMs = Math.max(retryInMs ?? 0, grant.retryInMs)
        granted = grant.granted
        passed.push(gate)
      }
      return retryInMs === undefined ? { granted } : { granted, retryInMs }
    },
    refund(queue, count) {
      if (count > 0) for (const gate of gates) gate.refund(queue, count)
    },
    done(queue, count) {
      if (count > 0) for (const gate of gates) gate.done?.(queue, count)
    },
  }
}
