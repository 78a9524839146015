import type { Store } from '../src/store/store.ts'

/** A subscription to wake-ups that a test can wait for. */
export interface Listener {
  readonly count: number
  /** Resolves with the next wake-up after this call. */
  next(): Promise<void>
  stop(): void
}

/** Subscribes to the wake-ups of a store. */
export function listen(store: Store, queues: readonly string[] = ['default']): Listener {
  const waiting: (() => void)[] = []
  let count = 0
  const stop = store.facets.wakeups!.subscribe(queues, () => {
    count++
    for (const resolve of waiting.splice(0)) resolve()
  })
  return {
    next: () => new Promise((resolve) => void waiting.push(resolve)),
    get count() {
      return count
    },
    stop,
  }
}
