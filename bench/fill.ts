import { createBare, insertBare } from './bare.ts'
import { enqueueInBulk, openClient, retention } from './library.ts'
import type { Side } from './sides.ts'

/** What stands in a table. */
export interface Contents {
  readonly due: number
  /** Of a higher priority than those that are due, in the same queue, due tomorrow. */
  readonly future: number
  /** Jobs of the library stay when they are completed (default: they do not). */
  readonly keep?: boolean
}

/** Fills a new file. */
export async function fillFile(side: Side, file: string, contents: Contents): Promise<void> {
  await FILL[side](file, contents)
}

const DAY_MS = 86_400_000

const FILL = {
  async library(file: string, { due, future, keep = false }: Contents): Promise<void> {
    const jobs = await openClient(file)
    await enqueueInBulk(jobs, due, retention(keep))
    await enqueueInBulk(jobs, future, { ...retention(keep), priority: 'high', delay: '1d' })
    await jobs.close()
  },
  async bare(file: string, { due, future }: Contents): Promise<void> {
    const db = createBare(file)
    insertBare(db, { count: due, inOne: 1_000 })
    insertBare(db, { count: future, inOne: 1_000, priority: -10, runAt: Date.now() + DAY_MS })
    db.close()
  },
}
