import { type Clock, sleep } from '../core/clock.ts'
import { createDeferred } from '../core/deferred.ts'
import { TriphammerError } from '../core/errors.ts'
import type { Enqueuer } from '../extend/enqueuer.ts'
import { combineGates } from '../extend/gate.ts'
import type { Hooks } from '../extend/plugin.ts'
import type { Settler } from '../extend/settle.ts'
import { createClockWatch } from './clock-watch.ts'
import { type EveryOptions, every } from './every.ts'
import { createExecutor } from './executor.ts'
import { createLeaseKeeper } from './lease-keeper.ts'
import { createMaintenance } from './maintenance.ts'
import type { WorkerConfig } from './options.ts'
import { createOutage, isFatal } from './outage.ts'
import { createPulse } from './pulse.ts'
import { createQueueLoop } from './queue-loop.ts'
import { supervise } from './services.ts'

/**
 * One life of a worker, from start to stop.
 *
 * ```
 *  start ──► serving ──► stop: takes no more, gives back what is held
 *                          └─ grace ──► abort the signals ──► give back what still runs ──► write outcomes ──► ended
 * ```
 */
export interface Session {
  readonly id: string
  /** Resolves when the store has answered the first pulse, or when it is known to be away. @throws what no waiting can mend */
  start(): Promise<void>
  /** Resolves when nothing is in hand and nothing is left to do right now; future jobs and retries do not count. */
  idle(): Promise<void>
  /** Stops; the second call hurries the first. Resolves when the session has ended. */
  stop(graceMs: number): Promise<void>
  /** Somebody has called `stop`, or an error has. */
  readonly stopping: boolean
  /** Resolves when the session has ended, rejects if an error ended it. */
  readonly ended: Promise<void>
  counts(): { readonly held: number; readonly running: number; readonly started: number }
}

/** What a {@link Session} works with. */
export interface SessionOptions {
  readonly config: WorkerConfig
  readonly hooks: Hooks
  readonly enqueuer: Enqueuer
  readonly settler: Settler
}

/** After the signals are aborted, handlers have this long to end by themselves. */
const ABORT_WAIT_MS = 1_000
/** Outcomes that the store has not taken this long after the last handler ended are left to the leases; so are services. */
const FLUSH_WAIT_MS = 5_000
const CLEAN_EVERY_MS = 30_000

/** Makes a {@link Session}. */
export function createSession({ config, hooks, enqueuer, settler }: SessionOptions): Session {
  const { store, clock, ids, log } = config
  const { events } = hooks
  const id = ids.next()
  const ending = new AbortController()
  const force = new AbortController()
  const whenEnded = createDeferred()
  const watchers = new Set<() => void>()
  let started = 0
  let fatalError: unknown
  let stopping: Promise<void> | undefined
  let starting: Promise<void> = Promise.resolve()
  let loopsDone: Promise<unknown> = Promise.resolve()
  let running: Promise<unknown> = Promise.resolve()
  let services: Promise<unknown> = Promise.resolve()
  let unsubscribe = (): void => {}

  const fatal = (error: unknown): void => {
    if (fatalError !== undefined) return
    fatalError = error
    log.error({ error }, 'the worker stops: no waiting can mend this')
    void session.stop(0)
  }
  const outage = createOutage({ clock, ids, log, events, fatal, leaseMs: config.leaseMs })
  const executor = createExecutor({ config, hooks, enqueuer, settler })
  const gate = combineGates(hooks.gates, log)
  const changed = (): void => {
    for (const watcher of watchers) watcher()
  }
  const loops = config.queues.map((queue) =>
    createQueueLoop({ config, queue, session: id, executor, settler, gate, events, outage, changed, onStart: () => started++ }),
  )
  const watch = createClockWatch(clock, config.leaseMs)
  const keeper = createLeaseKeeper({ store, clock, leaseMs: config.leaseMs, loops, watch })
  const beating = outage.caller()
  const pulse = createPulse({ config, session: id, startedAt: clock.now(), loops, keeper, caller: beating })
  const maintenance = createMaintenance({ config, settler, session: id, outage, watch, signal: ending.signal })

  const jittered = (ms: number): number => ms * (0.75 + ids.random() / 2)
  const serve = (): Promise<unknown> => {
    const { signal } = ending
    const common = (): Pick<EveryOptions, 'clock' | 'caller' | 'signal'> => ({ clock, caller: outage.caller(), signal })
    return Promise.all([
      pulse.run(signal),
      every({ ...common(), wait: () => config.leaseMs / 3 }, keeper.renew),
      every({ ...common(), wait: () => jittered(config.leaseMs / 4) }, async () => {
        // After a sleep of the machine its own leases have run out as well, and are still its own until somebody reclaims them.
        await keeper.renewAll()
        await maintenance.reclaim()
      }),
      every({ ...common(), wait: () => jittered(CLEAN_EVERY_MS) }, maintenance.clean),
    ])
  }
  const supervised = (): Promise<unknown> =>
    Promise.all(hooks.services.map((service) => supervise(service, { clock, log, signal: ending.signal })))

  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        if (!condition()) return
        watchers.delete(watcher)
        resolve()
      }
      watchers.add(watcher)
      watcher()
    })
  const taken = (): number => sum(loops.map((loop) => loop.counts().taken))
  const runningNow = (): number => sum(loops.map((loop) => loop.counts().running))

  const windDown = async (graceMs: number): Promise<void> => {
    await starting.catch(() => {}) // whoever started is told; what it began is then ended like anything else
    unsubscribe()
    for (const loop of loops) loop.stop()
    const quiet = until(() => runningNow() === 0)
    await within(clock, graceMs, quiet, force.signal)
    if (runningNow() > 0) {
      const reason = new TriphammerError('SHUTDOWN', 'the worker is shutting down; the job goes back to its queue')
      for (const loop of loops) loop.abortRunning(reason)
      await within(clock, ABORT_WAIT_MS, quiet, force.signal)
      for (const loop of loops) loop.handBackRunning()
    }
    await within(clock, FLUSH_WAIT_MS, loopsDone)
    for (const loop of loops) loop.abandon()
    await loopsDone
    ending.abort()
    await running
    await within(clock, FLUSH_WAIT_MS, services)
    if (fatalError === undefined) await pulse.leave().catch((error: unknown) => log.warn({ error }, 'the worker could not sign off'))
  }

  const begin = async (): Promise<void> => {
    try {
      await pulse.beat()
    } catch (error) {
      if (isFatal(error)) throw error
      beating.failed(error, 0)
    }
    const wake = (): void => {
      for (const loop of loops) loop.wake()
      pulse.hurry()
    }
    unsubscribe =
      store.facets.wakeups?.subscribe(
        config.queues.map(({ name }) => name),
        wake,
      ) ?? unsubscribe
    loopsDone = Promise.all(loops.map((loop) => loop.run())).catch(fatal)
    running = serve().catch(fatal)
    services = supervised()
    events.emit('worker.started', { session: id, at: clock.now() })
  }

  const session: Session = {
    id,
    async start() {
      starting = begin()
      await starting
    },
    async idle() {
      // A job may put another into any queue until it has ended, so it takes a look that begins with nothing in hand and
      // takes nothing.
      for (let quiet = false; !quiet && stopping === undefined; ) {
        const before = taken()
        quiet = loops.every((loop) => loop.counts().inHand === 0)
        for (const loop of loops) loop.wake()
        await until(() => stopping !== undefined || loops.every((loop) => loop.idle()))
        quiet &&= taken() === before
      }
    },
    stop(graceMs) {
      if (stopping) {
        force.abort()
        return stopping
      }
      stopping = windDown(graceMs).then(() => {
        events.emit('worker.stopped', { session: id, at: clock.now() })
        if (fatalError === undefined) whenEnded.resolve()
        else whenEnded.reject(fatalError)
      })
      changed()
      return stopping
    },
    get stopping() {
      return stopping !== undefined
    },
    ended: whenEnded.promise,
    counts: () => {
      const counts = loops.map((loop) => loop.counts())
      return { held: sum(counts.map(({ held }) => held)), running: runningNow(), started }
    },
  }
  return session
}

// Waits for a promise, but no longer than `ms` or until the signal is aborted; leaves no timer behind.
async function within(clock: Clock, ms: number, promise: Promise<unknown>, signal?: AbortSignal): Promise<void> {
  const over = new AbortController()
  const cut = (): void => over.abort()
  signal?.addEventListener('abort', cut, { once: true })
  if (signal?.aborted) cut()
  await Promise.race([promise, sleep(clock, ms, over.signal)])
  signal?.removeEventListener('abort', cut)
  cut()
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
