import { hearRejection } from '../core/late.ts'
import type { Logger } from '../core/logger.ts'

/** What a gate lets through. */
export interface Grant {
  /** How many may be claimed: a whole number from 0 to what was wanted. */
  readonly granted: number
  /** In how many milliseconds it would let more through, if it knows; otherwise, or if this is no number from 0, the worker asks again at its next poll. */
  readonly retryInMs?: number
}

/**
 * Lowers the demand of one worker before it claims: a rate limit, a throttle. What is granted is spent, unless it comes
 * back through `refund`. Limits that span processes are enforced inside the claim instead.
 */
export interface Gate {
  /** For the log. */
  readonly name: string
  /** How many of `want` jobs the worker may claim from the queue now. */
  take(queue: string, want: number): Grant
  /** Grants that were not used: nothing was there to claim, or the job was given up unstarted or lost. */
  refund(queue: string, count: number): void
  /** Runs that have ended and whose finish has been answered: what a gate counts as at work, no longer is. */
  done?(queue: string, count: number): void
}

/**
 * All gates of a worker as one: each lowers what the one before granted, and what a later one denies goes back. A gate that
 * throws lets nothing through, which is logged: a limit that has failed must not turn into no limit.
 */
export function combineGates(gates: readonly Gate[], log: Logger): Required<Gate> {
  const ask = (gate: Gate, queue: string, want: number): Grant => {
    const failed = (error: unknown): void => log.error({ gate: gate.name, queue, error }, 'a gate threw; nothing is claimed')
    try {
      const grant = gate.take(queue, want)
      hearRejection(grant, failed)
      const { granted, retryInMs } = grant
      if (Number.isInteger(granted) && granted >= 0 && granted <= want) {
        // A wait that is none: the worker asks again at its next poll.
        return retryInMs !== undefined && retryInMs >= 0 ? { granted, retryInMs } : { granted }
      }
      log.error({ gate: gate.name, queue, want, granted }, 'a gate granted no number from 0 to what was wanted; nothing is claimed')
    } catch (error) {
      failed(error)
    }
    return { granted: 0 }
  }
  const tell = (gate: Gate, call: (gate: Gate) => unknown): void => {
    const failed = (error: unknown): void => log.error({ gate: gate.name, error }, 'a gate threw')
    try {
      hearRejection(call(gate), failed)
    } catch (error) {
      failed(error)
    }
  }
  return {
    name: 'all',
    take(queue, want) {
      let granted = want
      let retryInMs: number | undefined
      const passed: Gate[] = []
      for (const gate of gates) {
        if (granted === 0) break
        const grant = ask(gate, queue, granted)
        const denied = granted - grant.granted
        if (denied > 0) for (const earlier of passed) tell(earlier, (one) => one.refund(queue, denied))
        if (denied > 0 && grant.retryInMs !== undefined) retryInMs = Math.max(retryInMs ?? 0, grant.retryInMs)
        granted = grant.granted
        passed.push(gate)
      }
      return retryInMs === undefined ? { granted } : { granted, retryInMs }
    },
    refund(queue, count) {
      if (count > 0) for (const gate of gates) tell(gate, (one) => one.refund(queue, count))
    },
    done(queue, count) {
      if (count > 0) for (const gate of gates) tell(gate, (one) => one.done?.(queue, count))
    },
  }
}
