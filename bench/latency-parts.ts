import { type Client, defineTask, type Store, type Task } from 'triphammer'
import { createWorker, handle, type Worker } from 'triphammer/worker'
import { openClient } from './library.ts'
import type { Cues } from './part.ts'
import { nowMs, wait } from './time.ts'

/** What is told to whoever measures latency. */
export interface LatencyAssignment {
  readonly file: string
  readonly count: number
  readonly everyMs: number
}

interface Stamp {
  readonly sentAtMs: number
}
const stamped: Task<Stamp, Stamp> = defineTask<Stamp>('stamped')

/** Enqueues jobs one by one, so far apart that the worker is idle again; all of them are on their way when it resolves. */
export async function enqueueStamped(jobs: Client, { count, everyMs }: LatencyAssignment): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    await wait(everyMs)
    await jobs.enqueue(stamped, { sentAtMs: nowMs() }, { retain: false })
  }
}

/** A worker that notes how long after its enqueue each job starts; the enqueues are somebody else's. Reports milliseconds. */
export function wokenPart(assignment: LatencyAssignment, cues: Cues): Promise<readonly number[]> {
  return notedBy(assignment, cues, async () => {})
}

/** The same in one process: it enqueues what its own worker runs. */
export function wakenPart(assignment: LatencyAssignment, cues: Cues): Promise<readonly number[]> {
  return notedBy(assignment, cues, (jobs) => enqueueStamped(jobs, assignment))
}

async function notedBy(
  { file, count }: LatencyAssignment,
  { begin }: Cues,
  act: (jobs: Client) => Promise<void>,
): Promise<readonly number[]> {
  const jobs = await openClient(file)
  const { worker, all } = listen(jobs.store, count)
  await worker.start()
  await worker.idle()
  await begin()
  await act(jobs)
  const latencies = await all
  await worker.stop()
  await jobs.close()
  return latencies
}

function listen(store: Store, count: number): { readonly worker: Worker; readonly all: Promise<readonly number[]> } {
  const latencies: number[] = []
  let onAll = (): void => {}
  const all = new Promise<readonly number[]>((resolve) => {
    onAll = () => resolve(latencies)
  })
  const note = handle(stamped, ({ payload: { sentAtMs } }) => {
    if (latencies.push(nowMs() - sentAtMs) === count) onAll()
  })
  return { worker: createWorker({ store, handlers: [note] }), all }
}
