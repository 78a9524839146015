// biome-ignore lint/style/noRestrictedImports: it throws what every test runner shows as a failed assertion; it asserts nothing itself
import { AssertionError } from 'node:assert'
import { type Duration, parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import type { ManualClock } from '../core/manual-clock.ts'
import { checkInteger, checkOptions } from '../core/options.ts'
import { checkName } from '../core/text.ts'
import type { Client, EventType, Plugin, Reclaimed, Run } from '../index.ts'
import type { MemoryStore, StoredJob } from '../memory.ts'
import type { Handler } from '../worker.ts'
import { countTasks } from './job.ts'
import { queuesOf, type SingleRuns } from './single-runs.ts'

/** How far a drain goes. */
export interface DrainOptions {
  /**
   * Also what is due later: the clock is moved to each next job. `true`: until nothing is pending. A length of time (text or
   * milliseconds), or a moment (a `Date` or ISO text): until then, and that is where the clock ends. Default: only what is due.
   */
  readonly scheduled?: true | Duration | Exclude<Instant, number>
  /** Only jobs of these queues. Default: of all, those that no task names included. */
  readonly queue?: string | readonly string[]
  /** Runs at most (default 1,000). When more are wanted, something goes on for ever, and the drain fails. */
  readonly limit?: number
}

/** How many runs came to each end. A job that was tried twice counts twice. */
export interface Drained {
  /** Jobs that completed. */
  readonly completed: number
  /** Attempts that failed and left the job another. */
  readonly retried: number
  /** Runs whose handlers snoozed their jobs. */
  readonly snoozed: number
  /** Jobs whose last attempts failed, or that were discarded. */
  readonly dead: number
  /** Jobs whose last attempts timed out. */
  readonly timedOut: number
  /** Jobs that were cancelled. */
  readonly cancelled: number
  /** Taken away while they ran. */
  readonly lost: number
}

/** What {@link createDrain} works with. */
export interface DrainParts {
  readonly store: MemoryStore
  readonly clock: ManualClock
  readonly jobs: Client
  readonly handlers: ReadonlyMap<string, Handler>
  readonly singleRuns: SingleRuns
}

const LIMIT = 1_000

type Tally = { -readonly [Key in keyof Drained]: number }

/** Makes `TestKit.drain`: one job at a time, by priority, run time and id, as if all queues were one. */
export function createDrain(parts: DrainParts) {
  const { store, clock, singleRuns } = parts

  return async (options: DrainOptions = {}): Promise<Drained> => {
    checkOptions(options, ['scheduled', 'queue', 'limit'], 'drain')
    const { scheduled, queue, limit = LIMIT } = options
    const queues = queue === undefined ? undefined : [queue].flat().map((name) => checkName(name, 'drain: queue'))
    const until = untilOf(scheduled, clock.now())
    checkInteger(limit, 'drain: limit', 1)
    const pending = (): readonly StoredJob[] => store.snapshot({ states: ['pending'], ...(queues ? { queues } : {}) })
    const tally: Tally = { completed: 0, retried: 0, snoozed: 0, dead: 0, timedOut: 0, cancelled: 0, lost: 0 }
    const ran: Run[] = []
    const release = singleRuns.hold()
    try {
      for (;;) {
        await drainDue(parts, { pending, limit, tally, ran, started: release })
        const next = nextAfter(clock.now(), pending())
        if (until === undefined || next > until || next === Infinity) break
        await clock.advance(next - clock.now())
      }
      if (until !== undefined && until < Infinity) await clock.advance(Math.max(0, until - clock.now()))
      return tally
    } finally {
      release()
    }
  }
}

interface Draining {
  readonly pending: () => readonly StoredJob[]
  readonly limit: number
  readonly tally: Tally
  readonly ran: Run[]
  readonly started: () => void
}

// Until nothing is due at this moment. A queue that gives nothing is paused, and not asked again for nothing.
async function drainDue({ store, clock, jobs, handlers, singleRuns }: DrainParts, draining: Draining): Promise<void> {
  const { pending, limit, tally, ran, started } = draining
  const watch = counting(tally)
  const silent = new Set<string>()
  const due = (): readonly StoredJob[] => pending().filter(({ runAt }) => runAt <= clock.now())
  const first = (): StoredJob | undefined => {
    const runnable = due().filter(({ queue, task }) => handlers.has(task) && !silent.has(queue))
    return runnable.reduce<StoredJob | undefined>((best, job) => (best && isBefore(best, job) ? best : job), undefined)
  }
  // The runs of whoever took a job by hand and let its lease run out: any worker does this.
  count(await jobs.reclaim(), tally)
  for (let next = first(); next; next = first()) {
    if (ran.length >= limit) throw endless(ran, due())
    const { queue, task } = next
    const before = ran.length
    await singleRuns.run({
      queues: queuesOf(queue, handlers.get(task)!),
      async take(request) {
        if (ran.length >= limit || first()?.queue !== queue) return undefined
        const { runs } = await store.claim({ ...request, limit: 1, finish: [] })
        ran.push(...runs)
        return runs[0]
      },
      watch,
      started,
    })
    if (ran.length === before) silent.add(queue)
    else silent.clear() // what ran may have resumed another
  }
  refuseOrphans(due().filter(({ task }) => !handlers.has(task)))
}

function untilOf(scheduled: DrainOptions['scheduled'], now: number): number | undefined {
  if (scheduled === undefined) return undefined
  if (scheduled === true) return Infinity
  const isLength = typeof scheduled === 'number' || (typeof scheduled === 'string' && !/^\d{4}-/.test(scheduled))
  if (isLength) return now + parseDuration(scheduled, 'drain: scheduled')
  const until = parseInstant(scheduled, 'drain: scheduled')
  if (until >= now) return until
  throw new TriphammerError('INVALID_OPTION', `drain: scheduled: ${new Date(until).toISOString()} is past; the clock only goes forward`)
}

const KEY_OF = {
  'job.completed': 'completed',
  'job.retrying': 'retried',
  'job.snoozed': 'snoozed',
  'job.dead': 'dead',
  'job.timed_out': 'timedOut',
  'job.cancelled': 'cancelled',
  'job.lost': 'lost',
} as const satisfies Partial<Record<EventType, keyof Drained>>

function counting(tally: Tally): Plugin {
  return {
    name: 'drain',
    setup({ on }) {
      for (const [type, key] of Object.entries(KEY_OF)) on(type as keyof typeof KEY_OF, () => void tally[key]++)
    },
  }
}

function count({ requeued, dead, cancelled }: Reclaimed, tally: Tally): void {
  tally.retried += requeued.length
  tally.dead += dead.length
  tally.cancelled += cancelled.length
}

// Infinity: never.
function nextAfter(now: number, jobs: readonly StoredJob[]): number {
  return jobs.reduce((next, { runAt }) => (runAt > now && runAt < next ? runAt : next), Infinity)
}

// As a claim has it.
function isBefore(a: StoredJob, b: StoredJob): boolean {
  return (a.priority - b.priority || a.runAt - b.runAt || (a.id < b.id ? -1 : 1)) < 0
}

function endless(ran: readonly Run[], left: readonly StoredJob[]): AssertionError {
  const message = [
    `drain has run jobs ${ran.length} times, and there is more to do: does a job enqueue, snooze or retry itself for ever?`,
    `ran: ${countTasks(ran)}`,
    `due: ${countTasks(left)}`,
    `Bound the time, drain({ scheduled: '1d' }), or give a higher limit if so many are meant.`,
  ]
  return new AssertionError({ message: message.join('\n'), operator: 'drain' })
}

function refuseOrphans(orphans: readonly StoredJob[]): void {
  if (orphans.length === 0) return
  throw new TriphammerError(
    'NO_HANDLER',
    `drain: no handler for ${countTasks(orphans)}, due in the queue ${[...new Set(orphans.map(({ queue }) => queue))].join(', ')}; ` +
      'give createTestKit({ handlers }) one, if only handle(task, () => {}), or name the queues that are to be drained',
  )
}
