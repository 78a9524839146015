import { type Client, completed } from 'triphammer'
import { bareHands, createBare, drainBare, insertBare } from './bare.ts'
import { type Db, single } from './driver.ts'
import { mustBe } from './figures.ts'
import { withFile } from './folder.ts'
import { enqueueInBulk, workerOn } from './library.ts'
import { nowMs } from './time.ts'

/** Jobs per second of one way of taking jobs. */
export interface Rates {
  /** Of the claims alone; a worker does not tell them from the rest. */
  readonly claimed?: number
  /** Claimed and finished. */
  readonly done: number
}

/** A way of taking jobs: claims by hand of so many at a time, or a worker. */
export interface Way {
  readonly title: string
  readonly batch: number
  /** Of a worker. */
  readonly concurrency?: number
}

/** In the order of the report. What comes first of its kind is what the others are compared with. */
export const WAYS: readonly Way[] = [
  { title: 'by hand, singly', batch: 1 },
  { title: 'by hand, 10 in a claim', batch: 10 },
  { title: 'by hand, 50 in a claim', batch: 50 },
  { title: 'by hand, 100 in a claim', batch: 100 },
  { title: 'worker, single jobs', batch: 1, concurrency: 1 },
  { title: 'worker, batches of 10, one job at a time', batch: 10, concurrency: 1 },
  { title: 'worker, batches of 50, 10 jobs at a time', batch: 50, concurrency: 10 },
]

/** Gives a client on an empty store of its own. */
export type Place = <T>(act: (jobs: Client) => Promise<T>) => Promise<T>

/** Every way once, each on jobs of its own, which are kept. */
export async function libraryRound(place: Place, count: number): Promise<readonly Rates[]> {
  const rates: Rates[] = []
  for (const way of WAYS) {
    const rate = await place(async (jobs) => {
      await enqueueInBulk(jobs, count, {})
      const measured = way.concurrency === undefined ? await byHand(handsOf(jobs, way.batch), count) : await byWorker(jobs, way, count)
      mustBe(`completed jobs, ${way.title}`, await jobs.count({ state: 'completed' }), count)
      return measured
    })
    rates.push(rate)
  }
  return rates
}

/** The bare loop in every way: by hand as many transactions as by hand, as a worker batches of the same size. */
export async function bareRound(count: number): Promise<readonly Rates[]> {
  const rates: Rates[] = []
  for (const { title, batch, concurrency } of WAYS) {
    const rate = await withFile(async (file) => {
      const db = createBare(file)
      insertBare(db, { count, inOne: 1_000 })
      const measured = concurrency === undefined ? await byHand(bareHands(db, batch), count) : drained(db, batch, count)
      mustBe(`rows in the history of the bare loop, ${title}`, Number(single(db, 'select count(*) from history')), count)
      db.close()
      return measured
    })
    rates.push(rate)
  }
  return rates
}

/** Claiming and finishing apart. */
interface Hands<Run> {
  claim(): readonly Run[] | Promise<readonly Run[]>
  finish(run: Run): unknown
}

async function byHand<Run>({ claim, finish }: Hands<Run>, count: number): Promise<Rates> {
  let claimMs = 0
  let finishMs = 0
  let done = 0
  for (;;) {
    const startedAt = nowMs()
    const runs = await claim()
    const claimedAt = nowMs()
    claimMs += claimedAt - startedAt
    if (runs.length === 0) break
    for (const run of runs) await finish(run)
    finishMs += nowMs() - claimedAt
    done += runs.length
  }
  mustBe('jobs claimed by hand', done, count)
  return { claimed: (count * 1_000) / claimMs, done: (count * 1_000) / (claimMs + finishMs) }
}

function handsOf(jobs: Client, max: number): Hands<Awaited<ReturnType<Client['claim']>>[number]> {
  return {
    claim: () => jobs.claim('default', { max }),
    async finish(run) {
      const state = await jobs.finish(run, completed())
      if (state !== 'applied') throw new Error(`the finish of a job claimed by hand was ${state}`)
    },
  }
}

async function byWorker(jobs: Client, { batch, concurrency }: Way, count: number): Promise<Rates> {
  const worker = workerOn(jobs.store, () => {}, { queues: { default: { concurrency: concurrency!, prefetch: batch } }, poll: '10ms' })
  const startedAt = nowMs()
  await worker.start()
  await worker.idle()
  const tookMs = nowMs() - startedAt
  mustBe('jobs that a worker has started', worker.stats().started, count)
  await worker.stop()
  return { done: (count * 1_000) / tookMs }
}

function drained(db: Db, batch: number, count: number): Rates {
  const startedAt = nowMs()
  mustBe('jobs of the bare loop', drainBare(db, { keep: true, batch }), count)
  return { done: (count * 1_000) / (nowMs() - startedAt) }
}
