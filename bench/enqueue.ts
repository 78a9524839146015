import { createBare, insertBare } from './bare.ts'
import type { Case } from './case.ts'
import { single } from './driver.ts'
import { type Figure, measure, mustBe } from './figures.ts'
import { withFile } from './folder.ts'
import { enqueueInBulk, openClient, PAYLOAD, retention, work } from './library.ts'
import { alternate, type Side } from './sides.ts'
import { THROUGHPUT, throughputOf } from './throughput.ts'

/** Jobs enqueued 1,000 in a call. */
export const enqueueBulk: Case = {
  name: 'enqueue-bulk',
  table: THROUGHPUT,
  async run({ rounds, bulkJobs }) {
    const sides = await alternate('enqueue, 1,000 in a call', rounds, (side) => enqueueRound(side, bulkJobs, 1_000))
    return throughputOf('enqueue, 1,000 in a call', sides, { atLeast: 0.5 })
  },
}

/** Jobs enqueued one in a call, one after the other. */
export const enqueueSingle: Case = {
  name: 'enqueue-single',
  table: THROUGHPUT,
  async run({ rounds, singleJobs }) {
    const sides = await alternate('enqueue, one in a call', rounds, (side) => enqueueRound(side, singleJobs, 1))
    return throughputOf('enqueue, one in a call', sides)
  },
}

const ROUNDS = { library: libraryRound, bare: bareRound }

function enqueueRound(side: Side, jobs: number, inOne: number): Promise<Figure> {
  return withFile((file) => ROUNDS[side](file, jobs, inOne))
}

async function libraryRound(file: string, count: number, inOne: number): Promise<Figure> {
  const jobs = await openClient(file)
  const figure = await measure(count, async () => {
    if (inOne > 1) return enqueueInBulk(jobs, count, retention(false))
    for (let done = 0; done < count; done++) await jobs.enqueue(work, PAYLOAD, retention(false))
  })
  mustBe('jobs after enqueueing', await jobs.count(), count)
  await jobs.close()
  return figure
}

async function bareRound(file: string, count: number, inOne: number): Promise<Figure> {
  const db = createBare(file)
  const figure = await measure(count, () => insertBare(db, { count, inOne }))
  mustBe('rows after inserting', Number(single(db, 'select count(*) from job')), count)
  db.close()
  return figure
}
