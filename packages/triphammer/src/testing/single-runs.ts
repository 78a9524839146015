import type { Plugin, Run, Store } from '../index.ts'
import type { MemoryStore } from '../memory.ts'
import { createWorker, type Handler, type WorkerOptions } from '../worker.ts'

type ClaimRequest = Parameters<Store['claim']>[0]

/** Runs, one after another, and where they come from. */
export interface Streak {
  /** The queue of the jobs and, where it has another, that of the task: a worker serves at least one queue of its tasks. */
  readonly queues: readonly string[]
  /** Takes the next run, once the one before has ended. The streak is over when there is none. */
  readonly take: (request: ClaimRequest) => Promise<Run | undefined>
  /** Its run middleware is the outermost, its observers are told first. */
  readonly watch: Plugin
  /** Called when a handler starts. */
  readonly started: () => void
  /** What the worker sees in the place of the store's own. */
  readonly store?: Pick<Partial<Store>, 'finish' | 'beat'>
}

/** Runs single jobs by a real worker, which lives as long as a streak. */
export interface SingleRuns {
  /** Resolves when the last outcome has been written. */
  run(streak: Streak): Promise<void>
  /** Keeps time from being moved until the answer is called: between the call of a user and the start of its first handler. */
  hold(): () => void
  /** Resolves when nobody holds the time. */
  released(): Promise<void>
}

/** What {@link SingleRuns} work with: the options of their workers. */
export type SingleRunsOptions = Omit<WorkerOptions, 'store' | 'queues'> & {
  readonly store: MemoryStore
  readonly plugins: readonly Plugin[]
}

/** Makes {@link SingleRuns}. */
export function createSingleRuns({ store, plugins, ...options }: SingleRunsOptions): SingleRuns {
  const held = new Set<Promise<void>>()

  return {
    async run(streak) {
      const starts: Plugin = { name: 'starts', setup: ({ on }) => on('job.started', streak.started) }
      const worker = createWorker({
        ...options,
        store: { ...store, ...streak.store, claim: claimingOneByOne(store, streak) },
        plugins: [streak.watch, starts, ...plugins],
        queues: Object.fromEntries(streak.queues.map((queue) => [queue, { concurrency: 1, prefetch: 1 }])),
      })
      await worker.runOnce()
    },
    hold() {
      let release!: () => void
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      held.add(released)
      return () => {
        held.delete(released)
        release()
      }
    },
    async released() {
      await Promise.all(held)
    },
  }
}

/** The queues of a worker that is to run jobs of this queue by this handler. */
export function queuesOf(queue: string, { task }: Handler): readonly string[] {
  const { queue: own = queue } = task.policy
  return own === queue ? [queue] : [queue, own]
}

// Outcomes are written first, so that what comes next is decided when they are known.
function claimingOneByOne(store: MemoryStore, { queues, take, store: own }: Streak): Store['claim'] {
  const finish = own?.finish ?? store.finish
  return async (request) => {
    const finished = await finish(request.finish ?? [])
    if (request.limit === 0 || request.queue !== queues[0]) return { runs: [], finished }
    const run = await take(request)
    return { runs: run ? [run] : [], finished }
  }
}
