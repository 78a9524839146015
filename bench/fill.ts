import { createBare, insertBare } from './bare.ts'
import { enqueueInBulk, openClient, retention } from './library.ts'
import type { Side } from './sides.ts'

/** Fills a new file with so many jobs; `keep`: those of the library stay when they are completed. */
export async function fillFile(side: Side, file: string, count: number, keep: boolean): Promise<void> {
  await FILL[side](file, count, keep)
}

const FILL = {
  async library(file: string, count: number, keep: boolean): Promise<void> {
    const jobs = await openClient(file)
    await enqueueInBulk(jobs, count, retention(keep))
    await jobs.close()
  },
  async bare(file: string, count: number): Promise<void> {
    const db = createBare(file)
    insertBare(db, { count, inOne: 1_000 })
    db.close()
  },
}
