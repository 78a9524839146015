import { statSync } from 'node:fs'
import { createBare, drainBare, insertBare } from './bare.ts'
import type { Case, Table } from './case.ts'
import { type Db, openDb } from './driver.ts'
import { show } from './figures.ts'
import { withFile } from './folder.ts'
import { DRAINING, enqueueInBulk, openClient, retention, workerOn } from './library.ts'
import { progress } from './progress.ts'
import type { Side } from './sides.ts'

const TABLE: Table = { title: 'Log: bytes of write-ahead log for each job', head: ['', 'library', 'bare loop', 'library ÷ bare'] }

/** What is written to the log. No noise touches it, so there is one round. */
export const log: Case = {
  name: 'log',
  table: TABLE,
  async run({ logJobs }) {
    progress('bytes of log')
    const bytes = async (keep: boolean): Promise<Record<Side, Written>> => ({
      library: await withFile((file) => libraryBytes(file, logJobs, keep)),
      bare: await withFile((file) => bareBytes(file, logJobs, keep)),
    })
    const [forgotten, kept] = [await bytes(false), await bytes(true)]
    const row = (title: string, library: number, bare: number): string[] => [title, show(library), show(bare), show(library / bare, 2)]
    return {
      rows: [
        row('enqueue, 1,000 in a call', forgotten.library.enqueued, forgotten.bare.enqueued),
        row('drain', forgotten.library.drained, forgotten.bare.drained),
        row('drain, history kept', kept.library.drained, kept.bare.drained),
      ],
      raw: { forgotten, kept },
    }
  },
}

/** Bytes for each job. */
interface Written {
  readonly enqueued: number
  readonly drained: number
}

async function libraryBytes(file: string, count: number, keep: boolean): Promise<Written> {
  const jobs = await openClient(file)
  const written = await watched(file, count, 'triphammer_jobs', {
    enqueue: () => enqueueInBulk(jobs, count, retention(keep)),
    drain: () => workerOn(jobs.store, () => {}, DRAINING).runOnce(),
  })
  await jobs.close()
  return written
}

async function bareBytes(file: string, count: number, keep: boolean): Promise<Written> {
  const db = createBare(file)
  const written = await watched(file, count, 'job', {
    enqueue: () => insertBare(db, { count, inOne: 1_000 }),
    drain: () => drainBare(db, { keep }),
  })
  db.close()
  return written
}

interface Acts {
  enqueue(): unknown
  drain(): unknown
}

// A reader that stays keeps the log from starting over, so that its size tells all that was written.
async function watched(file: string, count: number, table: string, { enqueue, drain }: Acts): Promise<Written> {
  const reader: Db = openDb(file)
  reader.exec('begin')
  reader.prepare(`select count(*) from ${table}`).all()
  const size = (): number => statSync(`${file}-wal`).size
  const before = size()
  await enqueue()
  const between = size()
  await drain()
  const after = size()
  reader.exec('commit')
  reader.close()
  return { enqueued: (between - before) / count, drained: (after - between) / count }
}
