import { isTriphammerError, TriphammerError } from '../../../core/errors.ts'
import type { AnyTask, Client, EnqueueOptions } from '../../../index.ts'
import { EXIT, type ExitCode, tellError } from '../../errors.ts'
import { jobCount } from '../../job-text.ts'
import type { PayloadLine } from '../../payloads.ts'
import { showProgress } from '../../progress.ts'
import type { Run } from '../../verb.ts'

/** Many jobs of one task. */
export interface Lines {
  readonly task: AnyTask
  readonly options: EnqueueOptions
  readonly lines: readonly PayloadLine[]
}

/** Jobs that are enqueued together, all or none. */
const CHUNK = 1_000

/** How far it came. */
interface Reached {
  readonly enqueued: number
  readonly left: number
  /** The first line that was not enqueued. */
  readonly nextLine?: number
}

/**
 * Enqueues a job for each line, and tells how many. Where a chunk fails, those before it are enqueued and none of its own.
 *
 * @throws TriphammerError as the first chunk deserves, naming its lines: nothing was enqueued
 */
export async function enqueueLines({ open, print, world, json }: Run, { task, options, lines }: Lines): Promise<ExitCode | undefined> {
  if (options.id !== undefined) throw new TriphammerError('INVALID_OPTION', '--id is the id of one job; leave it out with --lines')
  const client = open('change')
  const progress = json ? undefined : showProgress(world, 'jobs', lines.length)
  let enqueued = 0
  let failure: unknown
  let isStopped = false
  const leave = world.onSignal(() => {
    isStopped = true
  })
  try {
    while (enqueued < lines.length && !isStopped) {
      const chunk = lines.slice(enqueued, enqueued + CHUNK)
      await enqueueChunk(client, { task, options, lines: chunk })
      enqueued += chunk.length
      progress?.reach(enqueued)
    }
  } catch (error) {
    if (enqueued === 0) throw error
    failure = error
  } finally {
    leave()
    progress?.end()
  }
  const next = lines[enqueued]
  const reached: Reached = { enqueued, left: lines.length - enqueued, ...(next === undefined ? {} : { nextLine: next.line }) }
  print(reached, () => reachedText(reached))
  if (failure !== undefined) tellError(failure, world, json)
  return next === undefined ? undefined : EXIT.failed
}

function reachedText({ enqueued, left, nextLine }: Reached): string {
  if (nextLine === undefined) return `${jobCount(enqueued)} enqueued.`
  return `${jobCount(enqueued)} enqueued, ${left} not: line ${nextLine} and those below it are left.`
}

async function enqueueChunk(client: Client, { task, options, lines }: Lines): Promise<void> {
  try {
    await client.enqueueMany(
      task,
      lines.map(({ payload }) => payload),
      options,
    )
  } catch (error) {
    if (!isTriphammerError(error)) throw error
    const where = `one of the lines ${lines[0]!.line} to ${lines.at(-1)!.line}`
    throw new TriphammerError(error.code, `${where}: ${error.message}`, { cause: error })
  }
}
