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
  /** Aborted when the user wants an end: SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  /** Stands for the store that options and configuration name, and is left open. */
  readonly store?: Store
}
