/** What a part of a child process has at hand. */
export interface Cues {
  /** Says that it is ready and resolves when it is told to begin. */
  begin(): Promise<void>
  /** Resolves when it is told to stop. At most one wait at a time. */
  stopped(): Promise<void>
}

/** What a child process does; what it resolves with is its report. */
export type Part = (assignment: never, cues: Cues) => Promise<unknown>
