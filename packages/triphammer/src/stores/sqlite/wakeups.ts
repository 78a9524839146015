import { type FSWatcher, type Stats, unwatchFile, watch, watchFile } from 'node:fs'
import type { Clock, Timer } from '../../core/clock.ts'
import type { WakeupsFacet } from '../../store/facets.ts'

const PROBE_MS = 250
// A commit can be seen once its log has been flushed, while the watch reports the writing before: nearly all reports came too
// early (docs/adr/sqlite-wakeups.md). So one report is followed by looks, over a tenth of a second, until one sees it.
const LOOKS_MS = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 8, 10, 12, 15, 20]
// A commit of 200 jobs is some 80 writes, and each of four busy processes was told of 2,000 a second: to hear of them all took a
// quarter of the rate at which they worked (docs/adr/sqlite-wakeups.md). So after one report the watch is off for a moment, and
// at the end of that it is looked for what may have been missed.
const REST_MS = 20

/** Tells subscribers that there may be work. */
export interface Wakeups extends WakeupsFacet {
  /** The store itself has written something that these queues may be about. */
  notify(queues: ReadonlySet<string>): void
  /** The database is open now: its log can be watched. */
  arm(): void
  /** Ends all subscriptions. */
  end(): void
}

/**
 * Makes a {@link Wakeups}. Three ways lead to a subscriber, each beneath the other:
 *
 * ```
 * own write ──► notify ──────────────────────────────────────┐
 * any write ──► the log changes ──► fs.watch, some looks ──┐  ├──► wake, once a turn
 *                               └──► a stat each 250 ms ───┴─ has another connection committed? ┘
 * ```
 *
 * What changes the log is often the store's own claim or finish, which wakes nobody: only `writtenByOthers` does. Files are
 * watched while someone subscribes, and no watch keeps the process alive.
 *
 * @param file the database, `undefined` for one in memory
 * @param writtenByOthers whether another connection, of this process or another, has committed since the last question
 */
export function createWakeups(file: string | undefined, clock: Clock, writtenByOthers: () => boolean): Wakeups {
  const subscribers = new Map<() => void, readonly string[]>()
  const log = file === undefined ? undefined : `${file}-wal`
  let watcher: FSWatcher | undefined
  let isProbing = false

  const look = (): boolean => {
    const isWritten = writtenByOthers()
    if (isWritten) for (const soon of subscribers.keys()) soon()
    return isWritten
  }
  // Writing that goes on while looks go on starts them over.
  let looks = 0
  let nextLook: Timer | undefined
  let rest: Timer | undefined
  const lookAgain = (): void => {
    const wait = LOOKS_MS[looks++]
    nextLook = wait === undefined ? undefined : clock.timer(wait, () => (look() ? stopLooking() : lookAgain()))
  }
  const stopLooking = (): void => {
    nextLook?.cancel()
    nextLook = undefined
  }
  const lookFor = (): void => {
    looks = 0
    if (!nextLook && !look()) lookAgain()
  }
  const onChange = (): void => {
    disarm()
    rest ??= clock.timer(REST_MS, () => {
      rest = undefined
      arm()
      lookFor()
    })
    lookFor()
  }
  const disarm = (): void => {
    watcher?.close()
    watcher = undefined
  }
  const arm = (): void => {
    if (watcher || rest || log === undefined || subscribers.size === 0) return
    try {
      watcher = watch(log, { persistent: false })
    } catch {
      return // it does not exist yet, or the file system cannot: the probe sees it
    }
    watcher.on('change', onChange)
    watcher.on('error', disarm)
  }
  const probe = (now: Stats, before: Stats): void => {
    // The log is made anew when the last connection of all processes had closed: the watch is then on a file that is gone.
    if (now.ino !== before.ino) disarm()
    arm()
    look()
  }
  const start = (): void => {
    if (log === undefined || isProbing) return
    isProbing = true
    watchFile(log, { persistent: false, interval: PROBE_MS }, probe)
    writtenByOthers() // what was written before does not count
    arm()
  }
  const stop = (): void => {
    disarm()
    rest?.cancel()
    rest = undefined
    stopLooking()
    if (log !== undefined && isProbing) unwatchFile(log, probe)
    isProbing = false
  }

  return {
    subscribe(queues, wake) {
      const soon = onceATurn(() => subscribers.has(soon) && wake())
      subscribers.set(soon, queues)
      start()
      return () => {
        if (subscribers.delete(soon) && subscribers.size === 0) stop()
      }
    },
    notify(queues) {
      for (const [soon, names] of subscribers) if (names.some((name) => queues.has(name))) soon()
    },
    arm,
    end() {
      subscribers.clear()
      stop()
    },
  }
}

// Many signals within one turn are one wake-up. Each subscriber has a microtask of its own: one that throws takes no wake-up
// from another.
function onceATurn(act: () => void): () => void {
  let queued = false
  return () => {
    if (queued) return
    queued = true
    queueMicrotask(() => {
      queued = false
      act()
    })
  }
}
