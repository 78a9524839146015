import { TriphammerError } from '../core/errors.ts'
import { type JobFailure, toFailure } from '../core/failure.ts'
import { checkInteger, checkOptions } from '../core/options.ts'
import { signalledOutcome } from '../core/outcome.ts'
import type { AnyTask, EnqueueOptions } from '../core/task.ts'
import { show } from '../core/text.ts'
import { type ClientOptions, createClient, type NewJob, type Plugin, type Store, type StoreTx } from '../index.ts'
import type { MemoryStore } from '../memory.ts'
import type { Handler } from '../worker.ts'
import { type TestJob, toTestJob } from './job.ts'
import { queuesOf, type SingleRuns } from './single-runs.ts'

/** What can be said about a job that is performed. */
export type PerformOptions = Pick<EnqueueOptions, 'queue' | 'priority' | 'maxAttempts' | 'timeout' | 'retry'> & {
  /** The number of the attempt, from 1 (default) to the job's `maxAttempts`: the last one tells how the job dies. */
  readonly attempt?: number
}

/** What became of a job that was performed. */
export interface Performed {
  /** `retry` and `snooze`: the job would have run again. `lost`: it was taken away while it ran. */
  readonly outcome: 'completed' | 'retry' | 'snooze' | 'dead' | 'timed_out' | 'cancelled' | 'lost'
  /** What is kept of what the handler returned. */
  readonly result?: unknown
  /**
   * What the attempt failed with: the very thing that was thrown, or that was given to `discard` or `retryAfter`. Where only a
   * description of it is left, that.
   */
  readonly error?: unknown
  /** After `retry` and `snooze`: how long until the next attempt. */
  readonly delayMs?: number
  /** What the handler has shown last by `ctx.progress`. */
  readonly progress?: unknown
  /** The jobs that came into the store while it ran, by whomever. */
  readonly enqueued: readonly TestJob[]
}

/** What {@link createPerform} works with. */
export interface PerformParts {
  readonly store: MemoryStore
  readonly handlers: ReadonlyMap<string, Handler>
  readonly singleRuns: SingleRuns
  /** Of the client that checks the jobs. */
  readonly client: Omit<ClientOptions, 'store'>
}

/** Makes `TestKit.perform`: a job that exists for one attempt, and of which nothing stays. */
export function createPerform({ store, handlers, singleRuns, client }: PerformParts) {
  const build = createJobBuilder(store, client)

  const attemptOnce = async (job: NewJob, handler: Handler, attempt: number, started: () => void): Promise<Performed> => {
    const known = new Set(store.snapshot().map(({ id }) => id))
    const watch = createWatch()
    const removal = createRemoval(store, job.id)
    let isTaken = false
    try {
      await singleRuns.run({
        queues: queuesOf(job.queue, handler),
        async take({ session, leaseMs }) {
          if (isTaken) return undefined
          isTaken = true
          return store.enqueueClaimed(job, { session, leaseMs, attempt })
        },
        watch: watch.plugin,
        started,
        store: removal.view,
      })
    } finally {
      await removal.remove()
    }
    const progress = removal.progress()
    const enqueued = store.snapshot().filter(({ id }) => !known.has(id))
    return {
      ...watch.seen(),
      ...(progress === undefined ? {} : { progress: JSON.parse(progress) as unknown }),
      enqueued: enqueued.map(toTestJob),
    }
  }

  return async (task: AnyTask, payload: unknown, options: PerformOptions = {}): Promise<Performed> => {
    checkOptions(options, ['queue', 'priority', 'maxAttempts', 'timeout', 'retry', 'attempt'], 'perform')
    const { attempt = 1, ...jobOptions } = options
    const handler = handlerOf(handlers, task)
    const release = singleRuns.hold()
    try {
      const job = await build(task, payload, jobOptions)
      checkInteger(attempt, 'perform: attempt', 1, job.maxAttempts)
      return await attemptOnce(job, handler, attempt, release)
    } finally {
      release()
    }
  }
}

/** The handler of a task. @throws TriphammerError `NO_HANDLER` */
function handlerOf(handlers: ReadonlyMap<string, Handler>, task: AnyTask): Handler {
  const name: unknown = task?.name
  const handler = typeof name === 'string' ? handlers.get(name) : undefined
  if (handler) return handler
  throw new TriphammerError(
    'NO_HANDLER',
    `perform: the kit has no handler for task ${show(name)}; give createTestKit({ handlers }) one, made by handle(task, function)`,
  )
}

// A client that checks a job as any client does, middleware included, on a store that keeps what would have been written.
// Within a transaction, since no event shall tell of a job that is not enqueued.
function createJobBuilder(store: Store, options: Omit<ClientOptions, 'store'>) {
  interface Draft extends StoreTx {
    readonly jobs: NewJob[]
  }
  const client = createClient({
    ...options,
    store: {
      ...store,
      adopt: (draft) => draft as Draft,
      async enqueue(jobs, draft) {
        ;(draft as Draft).jobs.push(...jobs)
        return jobs.map(({ id }) => ({ id, status: 'inserted' }))
      },
    },
  })
  return async (task: AnyTask, payload: unknown, jobOptions: EnqueueOptions): Promise<NewJob> => {
    const draft: Draft = { db: undefined, jobs: [] }
    await client.in(draft).enqueue(task, payload, jobOptions)
    const { retainMs, ...job } = draft.jobs[0]! // it is forgotten by the kit, and not before it has been looked at
    return job
  }
}

// Takes a job away in the same step in which its run ends, so that nobody gets at it in between.
function createRemoval(store: MemoryStore, id: string) {
  let progress: string | undefined
  const remove = async (force: boolean): Promise<void> => {
    const [job] = store.snapshot({ ids: [id] })
    if (!job || (job.state === 'running' && !force)) return
    // Both are done at once; only their answers are waited for.
    const [page] = await Promise.all([
      store.admin.find({ ids: [id] }, { limit: 1, order: 'oldest' }),
      store.admin.remove({ ids: [id] }, { limit: 1, force }),
    ])
    progress = page.jobs[0]?.progress
  }
  const view: Partial<Store> = {
    async finish(outcomes, tx) {
      if (tx) return store.finish(outcomes, tx)
      const [results] = await Promise.all([store.finish(outcomes), remove(false)])
      return results
    },
    // A paused queue keeps its jobs from workers, and this one is asked for by name.
    beat: async (session) => ({ ...(await store.beat(session)), paused: [] }),
  }
  return { view, remove: () => remove(true), progress: () => progress }
}

type Seen = Pick<Performed, 'outcome' | 'result' | 'error' | 'delayMs'>

// What observers are told of a run, and what was thrown in it.
function createWatch(): { readonly plugin: Plugin; seen(): Seen } {
  let seen: Seen = { outcome: 'lost' }
  let thrown: unknown
  let signal: AbortSignal | undefined
  const failed = (outcome: Seen['outcome'], { error, delayMs }: { readonly error: JobFailure; readonly delayMs?: number }): void => {
    seen = { outcome, error: original(error, [thrown, signal?.reason]), ...(delayMs === undefined ? {} : { delayMs }) }
  }
  const plugin: Plugin = {
    name: 'perform',
    setup({ run, on }) {
      run(async (call, next) => {
        signal = call.signal
        try {
          const value = await next(call)
          thrown = failureIn(value)
          return value
        } catch (error) {
          thrown = failureIn(error) ?? error
          throw error
        }
      })
      on('job.completed', ({ result }) => {
        seen = { outcome: 'completed', ...(result === undefined ? {} : { result: JSON.parse(result) as unknown }) }
      })
      on('job.retrying', (event) => failed('retry', event))
      on('job.dead', (event) => failed('dead', event))
      on('job.timed_out', (event) => failed('timed_out', event))
      on('job.snoozed', ({ delayMs }) => (seen = { outcome: 'snooze', delayMs }))
      on('job.cancelled', () => (seen = { outcome: 'cancelled' }))
    },
  }
  return { plugin, seen: () => seen }
}

// What was given to discard() or retryAfter().
function failureIn(value: unknown): unknown {
  const outcome = signalledOutcome(value)
  return outcome && 'error' in outcome ? outcome.error : undefined
}

// What the kept description describes, if it is among those; else the description.
function original(kept: JobFailure, candidates: readonly unknown[]): unknown {
  const isKept = (candidate: unknown): boolean => {
    const { name, message, code } = toFailure(candidate)
    return name === kept.name && message === kept.message && code === kept.code
  }
  return candidates.find(isKept) ?? kept
}
