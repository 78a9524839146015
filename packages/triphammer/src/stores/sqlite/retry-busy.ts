import type { Clock } from '../../core/clock.ts'
import { isTriphammerError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'

/** A database that is locked for longer than this is `STORE_BUSY`. */
const PATIENCE_MS = 5_000

// Short and uneven waits: SQLite's own back-off reaches 100 ms, and its longest claims took 5 to 10 times longer.
const MIN_WAIT_MS = 1
const MAX_WAIT_MS = 5

/**
 * What the stores of this process tell each other about the lock of a database: that a transaction has ended. Whoever waits
 * for one in the same process so need not guess when it is over.
 */
export interface LockNews {
  ended(): void
  /** Calls `fn` at the next end; returns a function that calls it off. */
  once(fn: () => void): () => void
}

const newsOfFiles = new Map<string, LockNews>()

/** The news of a database, the same for all stores of this process; one in memory has its own. */
export function lockNews(file: string, isMemory: boolean): LockNews {
  const news = isMemory ? createNews() : (newsOfFiles.get(file) ?? createNews())
  if (!isMemory) newsOfFiles.set(file, news)
  return news
}

function createNews(): LockNews {
  const waiting = new Set<() => void>()
  return {
    ended() {
      for (const fn of [...waiting]) fn()
    },
    once(fn) {
      waiting.add(fn)
      return () => void waiting.delete(fn)
    },
  }
}

/** What {@link retryBusy} waits with. */
export interface Patience {
  readonly clock: Clock
  readonly ids: Ids
  readonly news: LockNews
}

/**
 * Does `attempt`, again and again while the database is locked. Between two attempts no transaction is open, and the event
 * loop is free.
 */
export async function retryBusy<T>(patience: Patience, attempt: () => T): Promise<T> {
  const { clock, ids } = patience
  const deadline = clock.monotonic() + PATIENCE_MS
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isTriphammerError(error, 'STORE_BUSY') || clock.monotonic() >= deadline) throw error
    }
    await pause(patience, MIN_WAIT_MS + ids.random() * (MAX_WAIT_MS - MIN_WAIT_MS))
  }
}

function pause({ clock, news }: Patience, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel()
      callOff()
      resolve()
    }
    const timer = clock.timer(ms, done)
    const callOff = news.once(done)
  })
}
