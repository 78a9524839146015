import { DEFAULTS } from '../../core/defaults.ts'
import type { Beat, SessionId, SessionInfo, SessionRecord } from '../../store/types.ts'

/** The workers that have been heard of, and what happened to runs of theirs. */
export interface Sessions {
  beat(info: SessionInfo, now: number, isPaused: (queue: string) => boolean): Beat
  /** Something happened, from outside, to a run of this session, known or not. */
  disturb(session: SessionId, now: number): void
  list(): readonly SessionRecord[]
  /** Forgets who was not heard of for five minutes, or in a future that a clock which was set back has left behind. */
  forget(now: number): void
}

/** Makes an empty {@link Sessions}. */
export function createSessions(): Sessions {
  const records = new Map<SessionId, SessionRecord>()
  // Apart from the records: a run can be disturbed before its session's first pulse.
  const changes = new Map<SessionId, { readonly count: number; readonly at: number }>()

  return {
    beat(info, now, isPaused) {
      const others = [...records.values()].filter(({ id, seenAt }) => id !== info.id && Math.abs(now - seenAt) <= DEFAULTS.sessionLiveMs)
      if (info.leaving) records.delete(info.id)
      else records.set(info.id, { ...info, seenAt: now })
      return {
        changes: changes.get(info.id)?.count ?? 0,
        paused: info.queues.filter(isPaused),
        wanted: info.queues.filter((queue) => others.some(({ idle }) => idle.includes(queue))),
      }
    },
    disturb(session, now) {
      changes.set(session, { count: (changes.get(session)?.count ?? 0) + 1, at: now })
    },
    list: () => [...records.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    forget(now) {
      for (const { id, seenAt } of [...records.values()]) if (Math.abs(now - seenAt) > DEFAULTS.sessionForgetMs) records.delete(id)
      for (const [id, { at }] of [...changes]) if (!records.has(id) && Math.abs(now - at) > DEFAULTS.sessionForgetMs) changes.delete(id)
    },
  }
}
