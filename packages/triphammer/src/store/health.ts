/** One thing that was looked at, and how it is. */
export interface Finding {
  /** What was looked at, by a literal name that programs may rely on. */
  readonly check: string
  /** `warning`: look at it some time; `problem`: jobs wait or are in danger. */
  readonly level: 'ok' | 'warning' | 'problem'
  /** What was found, with figures. */
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}

/** How a store is to be looked at. */
export interface HealthCheckOptions {
  /** Also what takes long, such as reading the whole database. */
  readonly deep: boolean
}

/** The store can look at what it lives on: files, disks, servers. Looking changes no job. */
export interface HealthFacet {
  /** What it found, in an order that people read. It takes about a second, with `deep` as long as the database is large. */
  check(options: HealthCheckOptions): Promise<readonly Finding[]>
}
