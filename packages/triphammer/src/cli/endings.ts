import type { Clock } from '../core/clock.ts'

/** Who wants an end: a signal, the process that has started this one, or a reader of the output that has gone. */
export type Teller = 'signal' | 'parent' | 'reader'

/** What the wish for an end comes to. */
export interface Endings {
  /** Calls `heard` for the first wish, and once more for the second, which is in a hurry; returns a function that ends this. */
  onSignal(heard: () => void): () => void
  /** Someone wants an end. */
  told(by: Teller): void
}

/** What {@link createEndings} works with. */
export interface EndingsOptions {
  readonly clock: Clock
  /** Begins to hear signals, because someone will heed them; returns a function that leaves them to the process again. */
  readonly hear: () => () => void
  /** Ends the process: an end is wanted, and nobody has anything to bring to one. */
  readonly end: () => void
}

// npm and npx hand on a signal that the terminal has given to all of their processes already.
const ECHO_MS = 500

/**
 * Makes {@link Endings}. The same wish comes in by several ways: a terminal's Ctrl-C and a service manager reach each process
 * of `work --processes`, and the parent tells its children as well. What counts is therefore not how many wishes there were
 * but how often the most insistent teller has said so.
 */
export function createEndings({ clock, hear, end }: EndingsOptions): Endings {
  const listeners = new Set<() => void>()
  const times = new Map<Teller, number>()
  let unhear = (): void => {}
  let heardAt = Number.NEGATIVE_INFINITY

  const isEcho = (): boolean => {
    const now = clock.monotonic()
    if (now - heardAt < ECHO_MS) return true
    heardAt = now
    return false
  }
  return {
    onSignal(heard) {
      const own = (): void => heard()
      if (listeners.size === 0) unhear = hear()
      listeners.add(own)
      return () => {
        if (listeners.delete(own) && listeners.size === 0) unhear()
      }
    },
    told(by) {
      if (by === 'signal' && isEcho()) return
      const before = Math.max(0, ...times.values())
      times.set(by, (times.get(by) ?? 0) + 1)
      if (Math.max(...times.values()) === before) return
      if (listeners.size === 0) end()
      for (const listener of listeners) listener()
    },
  }
}
