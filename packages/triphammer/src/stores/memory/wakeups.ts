import type { WakeupsFacet } from '../../store/facets.ts'

/** The wake-ups of one process: whoever changes a queue tells its subscribers directly. */
export interface Wakeups extends WakeupsFacet {
  notify(queue: string): void
  /** Ends all subscriptions. */
  end(): void
}

/** Makes a {@link Wakeups}. A subscriber is called once for all that happens in one turn, after it has happened. */
export function createWakeups(): Wakeups {
  const subscribers = new Map<string, Set<() => void>>()

  return {
    subscribe(queues, wake) {
      let queued = false
      let ended = false
      // Each in a microtask of its own: one that throws takes no wake-up from another.
      const soon = (): void => {
        if (queued) return
        queued = true
        queueMicrotask(() => {
          queued = false
          if (!ended) wake()
        })
      }
      for (const queue of queues) subscribers.set(queue, (subscribers.get(queue) ?? new Set()).add(soon))
      return () => {
        ended = true
        for (const queue of queues) subscribers.get(queue)?.delete(soon)
      }
    },
    notify(queue) {
      for (const soon of subscribers.get(queue) ?? []) soon()
    },
    end: () => subscribers.clear(),
  }
}
