import { type Clock, sleep } from '../core/clock.ts'
import { isTriphammerError, TriphammerError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { JobSpec } from '../core/task.ts'
import type { Store, StoreTx } from '../store/store.ts'
import type { EnqueueResult, NewJob } from '../store/types.ts'
import { buildJob, checkInput, checkSpec } from './build-job.ts'
import { compose } from './middleware.ts'
import type { Hooks } from './plugin.ts'

/** Takes jobs from what people write to the store: checks all of them, then middleware, then the store, then events. */
export interface Enqueuer {
  /** All or nothing. Within `tx` no event fires: whether the transaction commits is the user's affair. */
  enqueue(specs: readonly JobSpec[], tx?: StoreTx): Promise<readonly EnqueueResult[]>
  /**
   * As `enqueue`, at once, on a store whose driver is synchronous.
   *
   * @throws TriphammerError `FACET_MISSING`; `SYNC_UNSUPPORTED`: enqueue middleware or a schema that is asynchronous
   */
  enqueueSync(specs: readonly JobSpec[], tx: StoreTx): readonly EnqueueResult[]
  /** Jobs that have passed the checks and the middleware, to be written by the transaction that finishes another job. */
  prepare(specs: readonly JobSpec[]): Promise<readonly NewJob[]>
}

/** What an {@link Enqueuer} works with. */
export interface EnqueuerOptions {
  readonly store: Store
  readonly hooks: Hooks
  readonly clock: Clock
  readonly ids: Ids
  readonly payloadBytes: number
}

/** Jobs in one statement. */
const CHUNK = 1_000
const LOST_REPLY_RETRIES = 3
const LOST_REPLY_WAIT_MS = 100

/** Makes an {@link Enqueuer}. */
export function createEnqueuer({ store, hooks, clock, ids, payloadBytes }: EnqueuerOptions): Enqueuer {
  const build = (specs: readonly JobSpec[]): NewJob[] => {
    const jobs: NewJob[] = []
    try {
      for (const spec of specs) {
        checkSpec(spec)
        jobs.push(buildJob(spec, { ids, payloadBytes }))
      }
    } catch (error) {
      throw inList(error, jobs.length, specs)
    }
    return jobs
  }

  // Built first, at once: what the caller does to a payload while a schema is at work does not change the job.
  const checkAndBuild = async (specs: readonly JobSpec[]): Promise<NewJob[]> => {
    const jobs = build(specs)
    for (let at = 0; at < specs.length; at++) {
      const checking = checkAt(specs, at)
      if (checking) await checking
    }
    return jobs
  }

  const write = async (jobs: readonly NewJob[], tx: StoreTx | undefined): Promise<readonly EnqueueResult[]> => {
    if (tx || jobs.length <= CHUNK) return writeChunks(jobs, tx)
    return store.transaction((own) => writeChunks(jobs, own))
  }
  const writeChunks = async (jobs: readonly NewJob[], tx: StoreTx | undefined): Promise<readonly EnqueueResult[]> => {
    const results: EnqueueResult[] = []
    for (let at = 0; at < jobs.length; at += CHUNK) results.push(...(await store.enqueue(jobs.slice(at, at + CHUNK), tx)))
    return results
  }

  // A reply that got lost leaves it open whether the jobs are in: the ids were made here, so saying it again is harmless.
  const writeSafely = async (jobs: readonly NewJob[]): Promise<readonly EnqueueResult[]> => {
    for (let tries = 0; ; tries++) {
      try {
        if (tries === 0) return await write(jobs, undefined)
        const repeated = jobs.map((job): NewJob => ({ ...job, repeat: true }))
        const results = await write(repeated, undefined)
        // A duplicate of an id that nobody chose is the job of a call whose reply was lost.
        return results.map((result, i) => {
          const job = jobs[i]!
          return result.status === 'duplicate' && result.id === job.id && !job.repeat ? { id: job.id, status: 'inserted' } : result
        })
      } catch (error) {
        if (tries >= LOST_REPLY_RETRIES || !isTriphammerError(error, 'STORE_UNAVAILABLE')) throw error
        await sleep(clock, LOST_REPLY_WAIT_MS * 2 ** tries)
      }
    }
  }

  const through = async (
    jobs: readonly NewJob[],
    last: (jobs: readonly NewJob[]) => Promise<readonly EnqueueResult[]>,
  ): Promise<readonly EnqueueResult[]> => {
    if (hooks.enqueue.length === 0) return last(jobs)
    const results = await compose(hooks.enqueue, (passed) => {
      sameLength(passed, jobs, 'jobs')
      return last(passed)
    })(jobs)
    sameLength(results, jobs, 'results')
    return results
  }

  // What was written, as middleware left it, and only if middleware let it be written.
  const writeAndTell = async (jobs: readonly NewJob[]): Promise<readonly EnqueueResult[]> => {
    const results = await writeSafely(jobs)
    if (!hooks.events.heard('job.enqueued')) return results
    const at = clock.now()
    results.forEach(({ id, status }, i) => {
      const { task, queue } = jobs[i]!
      hooks.events.emit('job.enqueued', { job: { id, task, queue }, status, at })
    })
    return results
  }

  return {
    async enqueue(specs, tx) {
      if (specs.length === 0) return []
      const jobs = await checkAndBuild(specs)
      return through(jobs, tx ? (passed) => write(passed, tx) : writeAndTell)
    },
    enqueueSync(specs, tx) {
      const { sync } = store.facets
      if (!sync)
        throw new TriphammerError('FACET_MISSING', `enqueueSync needs a synchronous driver; with the ${store.info.name} store use enqueue`)
      if (hooks.enqueue.length > 0) {
        throw new TriphammerError(
          'SYNC_UNSUPPORTED',
          'enqueueSync cannot run the installed enqueue middleware, which is asynchronous; use enqueue',
        )
      }
      const jobs = build(specs)
      specs.forEach(({ task }, at) => {
        const checking = checkAt(specs, at)
        if (!checking) return
        checking.catch(() => {}) // its verdict comes too late to be asked for
        throw new TriphammerError('SYNC_UNSUPPORTED', `the schema of task ${task.name} is asynchronous; use enqueue`)
      })
      return sync.enqueue(jobs, tx)
    },
    async prepare(specs) {
      let prepared: readonly NewJob[] = []
      await through(await checkAndBuild(specs), async (passed) => {
        prepared = passed
        return passed.map(({ id }) => ({ id, status: 'inserted' }))
      })
      return prepared
    },
  }
}

function checkAt(specs: readonly JobSpec[], at: number): void | Promise<void> {
  const { task, payload } = specs[at]!
  try {
    return checkInput(task, payload)?.catch((error: unknown) => {
      throw inList(error, at, specs)
    })
  } catch (error) {
    throw inList(error, at, specs)
  }
}

// Of many jobs one has to be found.
function inList(error: unknown, at: number, { length }: readonly JobSpec[]): unknown {
  if (length === 1 || !isTriphammerError(error)) return error
  return new TriphammerError(error.code, `at index ${at}: ${error.message}`, { cause: error })
}

function sameLength(got: unknown, jobs: readonly unknown[], what: string): void {
  const length = Array.isArray(got) ? got.length : 'no list of'
  if (length === jobs.length) return
  throw new TriphammerError(
    'INVALID_OPTION',
    `enqueue middleware turned ${jobs.length} jobs into ${length} ${what}; it must keep their number and order`,
  )
}
