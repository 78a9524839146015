import { afterEach, describe, expect } from 'vitest'
import { type Client, clientOn } from '../src/client/client.ts'
import { type Clock, sleep, systemClock } from '../src/core/clock.ts'
import { parseDuration } from '../src/core/duration.ts'
import type { Logger } from '../src/core/logger.ts'
import type { ManualClock } from '../src/core/manual-clock.ts'
import { defineTask, type Task } from '../src/core/task.ts'
import type { Events, EventType } from '../src/extend/events.ts'
import type { Plugin } from '../src/extend/plugin.ts'
import type { Facets } from '../src/store/facets.ts'
import type { Store } from '../src/store/store.ts'
import type { WorkerOptions } from '../src/worker/options.ts'
import { createWorker, type Worker } from '../src/worker/worker.ts'
import { forEachStore, type Opened, openStore } from './harness.ts'
import { STORES } from './stores.ts'

/** The task of most contracts. */
export const work: Task<unknown, unknown> = defineTask('work')

/** A line that a worker has logged. */
export interface LogLine {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A store with a client, and workers that are stopped and inspected when the test ends. */
export interface Bench extends Opened {
  readonly jobs: Client
  /** What the workers have logged at `warn` and above. */
  readonly logged: LogLine[]
  /** Makes a worker on this store and clock. It is stopped after the test, and then nothing may be left of it. */
  worker(options: Partial<WorkerOptions> & Pick<WorkerOptions, 'handlers'>): Worker
  /** The same, started. */
  started(options: Partial<WorkerOptions> & Pick<WorkerOptions, 'handlers'>): Promise<Worker>
  /** Lets time pass until the condition holds; fails when it does not within a minute, or `withinMs`. */
  until(condition: () => unknown, withinMs?: number): Promise<void>
  /** Lets time pass until the promise has settled. */
  settled<Value>(promise: Promise<Value>, withinMs?: number): Promise<Value>
  /** How many jobs are in each state. */
  states(): Promise<Readonly<Record<string, number>>>
  /** The workers end without signing off: their store is away. */
  vanishes(): void
}

/** How a contract on workers is run. */
export interface BenchOptions {
  readonly needs?: readonly (keyof Facets)[]
  /** The machine's clock, where a contract is about real time. Default: a clock that the contract moves. */
  readonly clock?: 'manual' | 'system'
}

/** Runs contracts about whole workers on every store. */
export function forEachBench(title: string, contracts: (open: () => Promise<Bench>) => void, options: BenchOptions = {}): void {
  const { clock = 'manual', needs } = options
  if (clock === 'manual') return forEachStore(title, (open) => withBench(open, contracts), needs ? { needs } : {})
  for (const entry of STORES) {
    describe(`store: ${entry.name}`, () => {
      describe(title, () => {
        const opened: (() => Promise<void>)[] = []
        afterEach(async () => {
          for (const close of opened.splice(0).reverse()) await close()
        })
        withBench(() => openStore(entry, (close) => opened.push(close), { clock: movingClock() }), contracts)
      })
    })
  }
}

function withBench(open: () => Promise<Opened>, contracts: (open: () => Promise<Bench>) => void): void {
  const benches: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of benches.splice(0).reverse()) await close()
  })
  contracts(async () => createBench(await open(), (close) => benches.push(close)))
}

// The machine's clock in the place of one that is moved: to advance is to wait.
function movingClock(): ManualClock {
  return {
    ...systemClock,
    advance: (by) => sleep(systemClock, parseDuration(by, 'advance')),
    setWallClock: () => {
      throw new Error('nobody sets the clock of the machine')
    },
  }
}

const STEP_MS = 50

function createBench(opened: Opened, closing: (close: () => Promise<void>) => void): Bench {
  const { store, clock, ids } = opened
  const timers = countTimers(clock)
  const logged: LogLine[] = []
  const workers: Worker[] = []
  let signsOff = true

  const until: Bench['until'] = async (condition, withinMs = 60_000) => {
    for (let waited = 0; ; waited += STEP_MS) {
      for (let turn = 0; turn < 10; turn++) {
        if (await condition()) return
        await nextTurn()
      }
      if (waited >= withinMs) throw new Error(`after ${waited} ms still not: ${String(condition)}`)
      await clock.advance(STEP_MS)
    }
  }
  const settled: Bench['settled'] = async (promise, withinMs) => {
    let done = false
    promise.then(
      () => (done = true),
      () => (done = true),
    )
    await until(() => done, withinMs)
    return promise
  }
  const worker: Bench['worker'] = (options) => {
    const made = createWorker({ store, clock: timers.clock, ids, logger: logTo(logged), ...options })
    workers.push(made)
    return made
  }
  closing(async () => {
    for (const made of workers) await settled(made.stop(), 120_000)
    expect(timers.live(), 'timers that the workers have left').toBe(0)
    expect(await store.admin.count({ states: ['running'] }), 'runs that were left in hand').toEqual([{ key: 'all', count: 0 }])
    if (signsOff) expect(await store.admin.sessions(), 'sessions that did not sign off').toEqual([])
  })
  return {
    ...opened,
    jobs: clientOn({ store, clock, ids, logger: false }),
    logged,
    worker,
    async started(options) {
      const made = worker(options)
      await made.start()
      return made
    },
    until,
    settled,
    async states() {
      return Object.fromEntries((await store.admin.count({}, 'state')).map(({ key, count }) => [key, count]))
    },
    vanishes() {
      signsOff = false
    },
  }
}

function countTimers(clock: Clock): { readonly clock: Clock; live(): number } {
  const live = new Set<object>()
  return {
    live: () => live.size,
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      timer(ms, fn) {
        const own = {}
        live.add(own)
        const timer = clock.timer(ms, () => {
          live.delete(own)
          fn()
        })
        return {
          cancel() {
            live.delete(own)
            timer.cancel()
          },
        }
      },
    },
  }
}

function logTo(lines: LogLine[]): Logger {
  const write =
    (level: keyof Logger) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields: { ...fields } })
  return { debug: () => {}, info: () => {}, warn: write('warn'), error: write('error') }
}

// Lets everything go on that waits for nothing but the event loop.
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Lets everything go on that waits for nothing but the event loop, a chain of store calls included. No time passes.
 */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await nextTurn()
}

/** Permits that handlers and store calls wait for. */
export interface Permits {
  take(): Promise<void>
  add(count: number): void
  readonly waiting: number
}

/** Makes {@link Permits}; there are none at first. */
export function createPermits(): Permits {
  const waiting: (() => void)[] = []
  let free = 0
  return {
    take: () => {
      if (free === 0) return new Promise((resolve) => waiting.push(resolve))
      free--
      return Promise.resolve()
    },
    add(count) {
      for (let n = 0; n < count; n++) {
        const next = waiting.shift()
        if (next) next()
        else free++
      }
    },
    get waiting() {
      return waiting.length
    },
  }
}

/** The verbs that a worker uses. */
export type Verb = 'transaction' | 'enqueue' | 'claim' | 'extend' | 'finish' | 'reclaim' | 'beat' | 'maintain'

/** What stands between a worker and its store: calls through, or does something else. */
export type Around = (verb: Verb, call: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>

/** A store whose verbs go through `around`, so that a call can be held, refused, or answered in vain. */
export function interpose(store: Store, around: Around): Store {
  const wrap = <Args extends readonly unknown[], Value>(verb: Verb, fn: (...args: Args) => Promise<Value>) => {
    return (...args: Args) => around(verb, () => fn(...args), args) as Promise<Value>
  }
  const { transaction } = store
  return {
    ...store,
    transaction: <Value>(fn: Parameters<typeof transaction<Value>>[0]) =>
      around('transaction', () => store.transaction(fn), [fn]) as Promise<Value>,
    enqueue: wrap('enqueue', store.enqueue.bind(store)),
    claim: wrap('claim', store.claim.bind(store)),
    extend: wrap('extend', store.extend.bind(store)),
    finish: wrap('finish', store.finish.bind(store)),
    reclaim: wrap('reclaim', store.reclaim.bind(store)),
    beat: wrap('beat', store.beat.bind(store)),
    maintain: wrap('maintain', store.maintain.bind(store)),
  }
}

/** An event and its type. */
export type Heard = { [Type in EventType]: { readonly type: Type; readonly event: Events[Type] } }[EventType]

const EVENT_TYPES: readonly EventType[] = [
  'job.enqueued',
  'job.started',
  'job.completed',
  'job.retrying',
  'job.snoozed',
  'job.released',
  'job.dead',
  'job.timed_out',
  'job.failed',
  'job.cancelled',
  'job.lost',
  'job.changed',
  'worker.started',
  'worker.stopped',
  'store.unavailable',
  'store.available',
]

/** Writes down all events of whoever it is installed on. */
export function eavesdrop(): { readonly plugin: Plugin; readonly heard: Heard[]; types(): readonly EventType[] } {
  const heard: Heard[] = []
  return {
    heard,
    types: () => heard.map(({ type }) => type),
    plugin: {
      name: 'eavesdrop',
      setup({ on }) {
        for (const type of EVENT_TYPES) on(type, (event) => void heard.push({ type, event } as Heard))
      },
    },
  }
}
