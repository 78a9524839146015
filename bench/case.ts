import type { Sizes } from './sizes.ts'

/** A table of the report. Cases that measure the same kind of thing share one. */
export interface Table {
  readonly title: string
  readonly head: readonly string[]
}

/** What a case has found. */
export interface Findings {
  /** Lines of the case's table, a cell for each column of its head. */
  readonly rows: readonly (readonly string[])[]
  /** Sentences beneath the table. */
  readonly notes?: readonly string[]
  /** All rounds as they were measured, for programs. */
  readonly raw: unknown
}

/** Something that is measured. */
export interface Case {
  /** As `--only` names it. */
  readonly name: string
  readonly table: Table
  run(sizes: Sizes): Promise<Findings>
}
