import type { Logger } from '../core/logger.ts'
import type { EnqueueResult, NewJob, Run } from '../store/types.ts'

/**
 * Wraps every enqueue: may change the jobs (seal a payload, add a trace), refuse by throwing, and see the results. It must
 * pass on as many jobs as it got, in order, so that results line up.
 */
export type EnqueueMiddleware = (
  jobs: readonly NewJob[],
  next: (jobs: readonly NewJob[]) => Promise<readonly EnqueueResult[]>,
) => Promise<readonly EnqueueResult[]>

/** What a {@link RunMiddleware} sees of a run. */
export interface RunCall {
  /** The run; its payload is JSON text. */
  readonly run: Run
  /** Aborted on timeout, cancel, lost lease and forced shutdown. */
  readonly signal: AbortSignal
  /** The worker's log, with the job in every line. */
  readonly log: Logger
}

/**
 * Wraps every run, from before its payload is decoded until its handler has returned: may change the payload (open a seal),
 * the result, and by throwing the outcome.
 */
export type RunMiddleware = (call: RunCall, next: (call: RunCall) => Promise<unknown>) => Promise<unknown>

/**
 * Makes one function of a chain, the first outermost. A link that calls `next` a second time is refused: it would enqueue
 * or run twice.
 */
export function compose<Input, Output>(
  chain: readonly ((input: Input, next: (input: Input) => Promise<Output>) => Promise<Output>)[],
  last: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  const from = (index: number): ((input: Input) => Promise<Output>) => {
    const link = chain[index]
    if (!link) return last
    return (input) => {
      let called = false
      return link(input, (passed) => {
        if (called) return Promise.reject(new Error('middleware called next() twice'))
        called = true
        return from(index + 1)(passed)
      })
    }
  }
  return from(0)
}
