import type { Clock } from '../core/clock.ts'
import { type Duration, parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { toFailure } from '../core/failure.ts'
import { parseId } from '../core/ids.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import { checkInteger, checkOptions, checkSwitch } from '../core/options.ts'
import { type Priority, parsePriority } from '../core/priority.ts'
import type { JobState } from '../core/state.ts'
import { checkName, checkReason, show } from '../core/text.ts'
import type { Hooks } from '../extend/plugin.ts'
import type { AdminCommand, Applied, Count, CountKey, JobFilter, QueueInfo, Slice } from '../store/admin.ts'
import type { Store } from '../store/store.ts'
import type { SessionRecord } from '../store/types.ts'
import { type JobFilterInput, parseFilter, parseTarget, type Target } from './filter.ts'
import { type Job, toJob } from './job.ts'

/** Options of a listing. */
export interface ListOptions {
  /** Jobs on a page (default 100, at most 1,000). */
  readonly limit?: number
  /** By creation; default `'newest'` first. */
  readonly order?: 'newest' | 'oldest'
  /** The `next` of the page before. */
  readonly after?: string
}

/** A page of jobs. */
export interface JobList {
  /** In the order that was asked for. */
  readonly jobs: readonly Job[]
  /** There may be more: `after` of the next page. */
  readonly next?: string
}

/** What a command did. */
export interface Changed {
  /** How many jobs were changed. */
  readonly changed: number
  /** Named by id, but in a state that the command does not apply to. */
  readonly refused: readonly { readonly id: string; readonly state: JobState }[]
  /** Named by id, but not there. */
  readonly missing: readonly string[]
}

/** When: a moment, or a wait by the store's clock. With neither: now. */
export interface When {
  /** At this moment. */
  readonly at?: Instant
  /** This long from now. */
  readonly delay?: Duration
}

/**
 * Looking at jobs and changing them. A command takes an id, some ids or a filter, changes the jobs that are in a state which it applies
 * to, and tells of the others; `docs/guides/operating.md` has the table. All of it throws a TriphammerError for an id, a filter or an
 * option that is wrong, before anything is changed.
 */
export interface Operations {
  /** One job; `undefined` if there is none of this id, or none any more. */
  get(id: string): Promise<Job | undefined>
  /**
   * A page of jobs, in the order of creation. Without a filter: of all.
   *
   * @example const { jobs: dead, next } = await jobs.list({ task: sendEmail, state: 'dead' }, { limit: 20 })
   */
  list(filter?: JobFilterInput, options?: ListOptions): Promise<JobList>
  /** How many jobs; without a filter, all. */
  count(filter?: JobFilterInput): Promise<number>
  /**
   * How many jobs by state, queue, task or priority; values that no job has are absent.
   *
   * @example await jobs.countBy('state', { queue: 'mail' }) // { pending: 3, completed: 12 }
   */
  countBy(key: CountKey, filter?: JobFilterInput): Promise<Readonly<Record<string, number>>>
  /**
   * Pending again: a running job is taken away from its worker; an ended one starts over with all its attempts. A completed one is refused.
   *
   * @example await jobs.retry({ state: 'unsuccessful', endedAfter: since })
   */
  retry(target: Target, when?: When): Promise<Changed>
  /** Dead, now: pending and running jobs, and those that failed or timed out. */
  kill(target: Target, options?: { readonly reason?: string }): Promise<Changed>
  /** Failed, because a person has decided so: pending and running jobs. */
  failed(target: Target, options?: { readonly reason?: string }): Promise<Changed>
  /**
   * Cancelled: pending jobs at once; a running one is asked to stop, by its handler's signal, within about a second, or with `force`
   * taken away at once.
   */
  cancel(target: Target, options?: { readonly reason?: string; readonly force?: boolean }): Promise<Changed>
  /** Another run time for pending jobs; `when` must say which. */
  reschedule(target: Target, when: When): Promise<Changed>
  /** Another priority for pending jobs. */
  reprioritise(target: Target, priority: Priority): Promise<Changed>
  /** Gone, in whatever state; running jobs only with `force`. */
  delete(target: Target, options?: { readonly force?: boolean }): Promise<Changed>
  /** No job of the queue is claimed until it is resumed; what runs goes on, what is enqueued waits. */
  pause(queue: string, options?: { readonly by?: string; readonly reason?: string }): Promise<QueueInfo>
  /** Ends a pause; a queue that is not paused stays as it is. The event `queue.resumed` tells by whom. */
  resume(queue: string, options?: { readonly by?: string }): Promise<QueueInfo>
  /** The queues that have live jobs, and those that were paused at some time. */
  queues(): Promise<readonly QueueInfo[]>
  /** The workers that have been heard of lately. */
  workers(): Promise<readonly SessionRecord[]>
}

/** What {@link createOperations} works with. */
export interface OperationsOptions {
  readonly store: Store
  readonly hooks: Hooks
  readonly clock: Clock
}

/** Jobs that one call of a command looks at. */
const SLICE = 500

/** Makes {@link Operations}. */
export function createOperations({ store, hooks, clock }: OperationsOptions): Operations {
  const { admin } = store

  const sweep = async (target: Target, command: string, step: (filter: JobFilter, slice: Slice) => Promise<Applied>): Promise<Changed> => {
    const { filter, ids } = parseTarget(target)
    const refused: { id: string; state: JobState }[] = []
    const missing = new Set(ids)
    let changed = 0
    for (let after: string | undefined; ; ) {
      const done = await step(filter, { limit: SLICE, ...(after === undefined ? {} : { after }) })
      changed += done.changed.length
      for (const { id } of done.changed) missing.delete(id)
      for (const { id, state } of done.refused) {
        missing.delete(id)
        if (ids) refused.push({ id, state })
      }
      announce(command, done)
      if (done.next === undefined) return { changed, refused, missing: [...missing] }
      after = done.next
    }
  }
  const announce = (command: string, { changed }: Applied): void => {
    if (!hooks.events.heard('job.changed')) return
    for (const { id, task, queue, state } of changed) {
      hooks.events.emit('job.changed', { job: { id, task, queue }, command, state, at: clock.now() })
    }
  }
  const apply = (target: Target, command: AdminCommand): Promise<Changed> =>
    sweep(target, command.kind, (filter, slice) => admin.apply(filter, command, slice))

  return {
    async get(id) {
      const { jobs } = await admin.find({ ids: [parseId(id)] }, { limit: 1, order: 'newest' })
      return jobs[0] && toJob(jobs[0], clock.now())
    },
    async list(filter = {}, options = {}) {
      checkOptions(options, ['limit', 'order', 'after'], 'list')
      const { limit = 100, order = 'newest', after } = options
      if (order !== 'newest' && order !== 'oldest') {
        throw new TriphammerError('INVALID_OPTION', `list: order ${show(order)} is neither 'newest' nor 'oldest'`)
      }
      const page = await admin.find(parseFilter(filter), {
        limit: checkInteger(limit, 'list: limit', 1, 1_000),
        order,
        ...(after === undefined ? {} : { after: parseId(after, 'list: after') }),
      })
      const now = clock.now()
      return { jobs: page.jobs.map((record) => toJob(record, now)), ...(page.next === undefined ? {} : { next: page.next }) }
    },
    async count(filter = {}) {
      return total(await admin.count(parseFilter(filter)))
    },
    async countBy(key, filter = {}) {
      if (!COUNT_KEYS.includes(key)) {
        throw new TriphammerError('INVALID_OPTION', `countBy: ${show(key)} is not one of ${COUNT_KEYS.join(', ')}`)
      }
      return Object.fromEntries((await admin.count(parseFilter(filter), key)).map((count) => [count.key, count.count]))
    },
    retry: async (target, when = {}) => apply(target, { kind: 'retry', ...parseWhen(when, 'retry') }),
    async kill(target, options = {}) {
      return apply(target, { kind: 'kill', error: toFailure(reasonOf(options, 'kill') ?? 'killed by a person') })
    },
    async failed(target, options = {}) {
      return apply(target, { kind: 'fail', error: toFailure(reasonOf(options, 'failed') ?? 'failed by a person') })
    },
    async cancel(target, options = {}) {
      checkOptions(options, ['reason', 'force'], 'cancel')
      const { force = false, ...rest } = options
      const reason = reasonOf(rest, 'cancel')
      return apply(target, { kind: 'cancel', force: checkSwitch(force, 'cancel: force'), ...(reason === undefined ? {} : { reason }) })
    },
    async reschedule(target, when) {
      const parsed = parseWhen(when, 'reschedule')
      if (Object.keys(parsed).length === 0) throw new TriphammerError('INVALID_OPTION', 'reschedule: say when, with at or delay')
      return apply(target, { kind: 'reschedule', ...parsed })
    },
    reprioritise: async (target, priority) => apply(target, { kind: 'reprioritise', priority: parsePriority(priority) }),
    async delete(target, options = {}) {
      checkOptions(options, ['force'], 'delete')
      const { force = false } = options
      checkSwitch(force, 'delete: force')
      return sweep(target, 'delete', (filter, slice) => admin.remove(filter, { ...slice, force }))
    },
    async pause(queue, options = {}) {
      checkOptions(options, ['by', 'reason'], 'pause')
      const { by, reason } = options
      const paused = { ...byOf(by, 'pause'), ...(reason === undefined ? {} : { reason: checkReason(reason, 'pause: reason') }) }
      const info = await admin.setQueue(checkName(queue, 'the name of the queue'), { paused })
      hooks.events.emit('queue.paused', { queue, ...paused, at: clock.now() })
      return info
    },
    async resume(queue, options = {}) {
      checkOptions(options, ['by'], 'resume')
      const by = byOf(options.by, 'resume')
      const info = await admin.setQueue(checkName(queue, 'the name of the queue'), { paused: null })
      hooks.events.emit('queue.resumed', { queue, ...by, at: clock.now() })
      return info
    },
    queues: () => admin.queues(),
    workers: () => admin.sessions(),
  }
}

function byOf(by: string | undefined, what: string): { readonly by?: string } {
  return by === undefined ? {} : { by: checkName(by, `${what}: by`) }
}

const COUNT_KEYS: readonly CountKey[] = ['state', 'queue', 'task', 'priority']

function total(counts: readonly Count[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0)
}

function parseWhen(when: When, what: string): { readonly at?: number; readonly delayMs?: number } {
  checkOptions(when, ['at', 'delay'], what)
  const { at, delay } = when
  if (at !== undefined && delay !== undefined) throw new TriphammerError('INVALID_OPTION', `${what}: give at or delay, not both`)
  if (at !== undefined) return { at: parseInstant(at, `${what}: at`) }
  return delay === undefined ? {} : { delayMs: parseDuration(delay, `${what}: delay`) }
}

function reasonOf(options: { readonly reason?: string }, what: string): string | undefined {
  checkOptions(options, ['reason'], what)
  return options.reason === undefined ? undefined : checkReason(options.reason, `${what}: reason`)
}
