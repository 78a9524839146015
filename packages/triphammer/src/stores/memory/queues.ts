import type { QueueInfo, QueuePatch } from '../../store/admin.ts'
import type { Rows } from './rows.ts'

/** What is known of queues beyond their jobs. */
export interface Queues {
  isPaused(name: string): boolean
  /** Changes a queue and tells whether it was resumed by that. */
  set(name: string, patch: QueuePatch, now: number): boolean
  /** Every queue that has live jobs or that something was said about, by name. */
  list(rows: Rows, now: number): readonly QueueInfo[]
  info(rows: Rows, name: string, now: number): QueueInfo
}

type Pause = NonNullable<QueueInfo['paused']>

/** Makes an empty {@link Queues}. */
export function createQueues(): Queues {
  const pauses = new Map<string, Pause | undefined>()

  const infoOf = (name: string, live: LiveCount): QueueInfo => {
    const paused = pauses.get(name)
    return { name, ...live, ...(paused ? { paused } : {}) }
  }

  return {
    isPaused: (name) => pauses.get(name) !== undefined,
    set(name, { paused }, now) {
      const before = pauses.get(name)
      if (paused === undefined) pauses.set(name, before)
      else if (paused === null) pauses.set(name, undefined)
      else pauses.set(name, { ...paused, since: before?.since ?? now })
      return paused === null && before !== undefined
    },
    list(rows, now) {
      const live = countLive(rows, now)
      const names = [...new Set([...pauses.keys(), ...live.keys()])].sort()
      return names.map((name) => infoOf(name, live.get(name) ?? NONE))
    },
    info: (rows, name, now) => infoOf(name, countLive(rows, now).get(name) ?? NONE),
  }
}

interface LiveCount {
  pending: number
  running: number
  waitingSince?: number
}

const NONE: Readonly<LiveCount> = { pending: 0, running: 0 }

function countLive(rows: Rows, now: number): Map<string, LiveCount> {
  const counts = new Map<string, LiveCount>()
  for (const { queue, state, runAt } of rows.values()) {
    if (state !== 'pending' && state !== 'running') continue
    const count = counts.get(queue) ?? { ...NONE }
    count[state]++
    if (state === 'pending' && runAt <= now) count.waitingSince = Math.min(count.waitingSince ?? runAt, runAt)
    counts.set(queue, count)
  }
  return counts
}
