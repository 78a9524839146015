/** The columns: a store is added here on the day its contracts run. */
export const STORES = ['memory', 'sqlite'] as const

/**
 * The rows. Q: claims by hand. W: whole workers. G: cleaning up Graphile Worker's own tables. I: the invariants that
 * docs/architecture.md numbers. A test belongs to a row when its title, or that of a suite around it, holds the tag, e.g.
 * `[Q1]`.
 */
export const SCENARIOS: Readonly<Record<string, string>> = {
  Q1: 'a batch comes by priority, then age',
  Q2: 'a weighted batch stays in the picked level',
  Q3: 'a batch heeds pause, parents, schedules',
  Q4: 'claims hold their leases',
  Q5: 'release puts an unstarted job back',
  Q6: 'parallel claimers never share a job',
  W1: 'several workers run everything once',
  W2: 'held jobs keep their leases',
  W3: 'shutdown hands unstarted jobs back',
  W4: 'a pause hands unstarted jobs back',
  W5: 'a fail-fast batch fails its held jobs',
  W6: 'held jobs record their true start',
  W7: 'a lost held job gives its rate token back',
  W8: 'a throttle holds across workers',
  W9: 'a rate limit holds',
  W10: 'single claims against batches, measured',
  G1: 'cleanup keeps the task of a new job',
  G2: 'a task is made again after its cleanup',
  G3: 'cleanup gives up its lock, deletes nothing',
  G4: 'a waiting cleanup blocks no typed add',
  G5: 'names cached during the wait stay',
  G6: 'names cached during a refresh stay',
  G7: 'cleanup passes an add that waits for a row',
  G8: 'a cancelled cleanup frees its lock',
  G9: 'a contested refresh ends and loses nothing',
  G10: 'queue cleanup waits for an add',
  G11: 'an add waits for queue cleanup',
  G12: 'cleanup deletes only what nothing refers to',
  I1: 'a token is unique; a stale one writes nothing',
  I2: 'no running job is without a lease',
  I3: 'only expiry or a person takes a run away',
  I4: 'a change and what follows are one',
  I5: "the store's clock decides",
  I6: 'given up unstarted leaves no trace',
  I7: 'order, and results that line up',
  I8: 'shutdown loses and repeats nothing',
  I9: 'a repeated enqueue inserts once',
  I10: 'a commit makes effects exactly once',
  I11: 'what one store cannot hold, all refuse',
}

/**
 * Scenarios of which a part needs a facet that no store has yet, so that there is no test of that part. Where the rest
 * passes, the cell names the facet instead of claiming the whole.
 */
export const WAITING_FOR: Readonly<Record<string, string>> = { Q3: 'flows' }
