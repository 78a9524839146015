import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../core/clock.ts'
import type { Store } from '../index.ts'

/** What the command line has around it. A test hands in a world of its own. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The working directory: where a configuration is looked for, and what relative paths of options are relative to. */
  readonly cwd: string
  /** Writes to standard output. */
  readonly out: (text: string) => void
  /** Writes to standard error. */
  readonly err: (text: string) => void
  /** Reads standard input to its end. */
  readonly readInput: () => Promise<string>
  /** Columns of the terminal; `undefined` where output goes to a file or a pipe, and nothing is cut. */
  readonly columns: number | undefined
  /** Standard error is a terminal, so that progress may be drawn over itself. */
  readonly isInteractive: boolean
  readonly clock: Clock
  /**
   * For a verb that has something to bring to an end: calls `heard` at SIGINT or SIGTERM, and once more at the next, instead of
   * letting them end the process. Returns a function that leaves them to the process again.
   */
  readonly onSignal: (heard: () => void) => () => void
  /** Runs this command line once more, in a process of its own, as one of several that work together. */
  readonly fork: (number: number) => ChildProcess
  /** Set in such a process. `up` tells the process that has started it that it is at work. */
  readonly child?: { readonly number: number; readonly up: () => void }
  /** Stands for the store that options and configuration name, and is left open. */
  readonly store?: Store
}
