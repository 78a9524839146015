import { drainBare, openBare } from './bare.ts'
import { fillFile } from './fill.ts'
import { withFile } from './folder.ts'
import { DRAINING, openClient, workerOn } from './library.ts'
import type { Cues } from './part.ts'
import type { Side } from './sides.ts'
import { nowMs } from './time.ts'

/** What a process that drains is told. */
export interface DrainAssignment {
  readonly side: Side
  readonly file: string
  /** For the bare loop: into the history. Jobs of the library know themselves whether they are kept. */
  readonly keep: boolean
  /** Before it is ready it drains so many jobs of a file of its own, so that its code is compiled. */
  readonly warmUp?: number
  /** Ends once so many have run; without it, when it is told to stop. */
  readonly limit?: number
}

/** What a process that drained says. */
export interface Drained {
  /** How many jobs it has run in all. */
  readonly ran: number
  /** From the word to begin to the end: the last job of its limit, or for the library the word to stop. */
  readonly tookMs: number
  readonly cpuMicros: number
}

/** Drains a file, as one of several processes or up to a limit. */
export async function drainPart(assignment: DrainAssignment, cues: Cues): Promise<Drained> {
  const { side, keep, warmUp } = assignment
  if (warmUp !== undefined) {
    await withFile(async (file) => {
      await fillFile(side, file, { due: warmUp, future: 0, keep })
      await drain({ side, file, keep, limit: warmUp }, AT_ONCE)
    })
  }
  return drain(assignment, cues)
}

const AT_ONCE: Cues = { begin: async () => {}, stopped: async () => {} }

async function drain(assignment: DrainAssignment, cues: Cues): Promise<Drained> {
  return assignment.side === 'library' ? drainLibrary(assignment, cues) : drainWithBare(assignment, cues)
}

async function drainLibrary({ file, limit }: DrainAssignment, { begin, stopped }: Cues): Promise<Drained> {
  const jobs = await openClient(file)
  let ran = 0
  let onLimit = (): void => {}
  const limitReached = new Promise<Omit<Drained, 'ran'>>((resolve) => {
    onLimit = () => resolve(lap())
  })
  const worker = workerOn(jobs.store, () => void (++ran === limit && onLimit()), DRAINING)
  await begin()
  const lap = startLap()
  await worker.start()
  const spent = await (limit === undefined ? stopped().then(lap) : limitReached)
  await worker.stop()
  await jobs.close()
  return { ran, ...spent }
}

async function drainWithBare({ file, keep, limit }: DrainAssignment, { begin, stopped }: Cues): Promise<Drained> {
  const db = openBare(file)
  await begin()
  const lap = startLap()
  const ran = drainBare(db, { keep, ...(limit === undefined ? {} : { limit }) })
  const spent = lap()
  if (limit === undefined) await stopped()
  db.close()
  return { ran, ...spent }
}

function startLap(): () => Omit<Drained, 'ran'> {
  const [startedAt, cpu] = [nowMs(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    return { tookMs: nowMs() - startedAt, cpuMicros: user + system }
  }
}
