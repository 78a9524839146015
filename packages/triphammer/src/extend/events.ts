import { TriphammerError } from '../core/errors.ts'
import type { JobFailure } from '../core/failure.ts'
import { hearRejection } from '../core/late.ts'
import type { Logger } from '../core/logger.ts'
import { show } from '../core/text.ts'
import type { JobId } from '../store/types.ts'

/** The job that an event is about. */
export interface EventJob {
  /** Its id. */
  readonly id: JobId
  /** The name of its task. */
  readonly task: string
  /** Its queue. */
  readonly queue: string
}

/** What every event about a job tells. */
export interface JobEvent {
  /** The job. */
  readonly job: EventJob
  /** Milliseconds since the epoch, by the clock of the process that tells it. */
  readonly at: number
}

/** What every event about a run tells. */
export interface RunEvent extends JobEvent {
  /** The number of the attempt, from 1. */
  readonly attempt: number
}

/** What every event about the end of a run tells. */
export interface EndEvent extends RunEvent {
  /** How long the handler ran, in milliseconds; absent when it did not. */
  readonly durationMs?: number
}

/**
 * Every event and what comes with it. An event about a change of state fires after the change has been committed, in the
 * process that made it, and never for a change that was refused as stale.
 */
export interface Events {
  /** A job was enqueued, or was there already. */
  readonly 'job.enqueued': JobEvent & { readonly status: 'inserted' | 'replaced' | 'duplicate' }
  /** A handler is about to be called. */
  readonly 'job.started': RunEvent
  /** A job completed; `result` is JSON text. */
  readonly 'job.completed': EndEvent & { readonly result?: string }
  /** An attempt failed or timed out, and there will be another, after `delayMs` if it is known. */
  readonly 'job.retrying': EndEvent & { readonly error: JobFailure; readonly delayMs?: number }
  /** A handler snoozed its job; the attempt does not count. */
  readonly 'job.snoozed': EndEvent & { readonly delayMs: number }
  /** A job was given back as if it had not been claimed. */
  readonly 'job.released': RunEvent
  /** The last attempt failed, or the handler discarded the job. */
  readonly 'job.dead': EndEvent & { readonly error: JobFailure }
  /** The last attempt timed out. */
  readonly 'job.timed_out': EndEvent & { readonly error: JobFailure }
  /** Something else decided that the job has failed. */
  readonly 'job.failed': EndEvent & { readonly error: JobFailure }
  /** A running job was cancelled. */
  readonly 'job.cancelled': EndEvent & { readonly reason?: string }
  /** A run that its worker had lost; whatever it did was not recorded. */
  readonly 'job.lost': RunEvent
  /** A person changed a job: `state` is what it is now. */
  readonly 'job.changed': JobEvent & { readonly command: string; readonly state: string }
  /** A person paused a queue, or changed what is said about its pause. */
  readonly 'queue.paused': { readonly queue: string; readonly by?: string; readonly reason?: string; readonly at: number }
  /** A person resumed a queue. */
  readonly 'queue.resumed': { readonly queue: string; readonly by?: string; readonly at: number }
  /** A worker takes jobs from now on; `session` is its id. */
  readonly 'worker.started': { readonly session: string; readonly at: number }
  /** A worker has stopped. */
  readonly 'worker.stopped': { readonly session: string; readonly at: number }
  /** A worker cannot use its store any more; told once, until it can again. */
  readonly 'store.unavailable': { readonly error: unknown; readonly at: number }
  /** A worker can use its store again. */
  readonly 'store.available': { readonly at: number }
}

/** The name of an event. */
export type EventType = keyof Events

const EVENT_TYPES: Readonly<Record<EventType, true>> = {
  'job.enqueued': true,
  'job.started': true,
  'job.completed': true,
  'job.retrying': true,
  'job.snoozed': true,
  'job.released': true,
  'job.dead': true,
  'job.timed_out': true,
  'job.failed': true,
  'job.cancelled': true,
  'job.lost': true,
  'job.changed': true,
  'queue.paused': true,
  'queue.resumed': true,
  'worker.started': true,
  'worker.stopped': true,
  'store.unavailable': true,
  'store.available': true,
}

/** Sees an event and cannot change what happened. Throwing does no harm: it is logged and counted. */
export type Observer<Type extends EventType> = (event: Events[Type]) => void

/** Tells observers. */
export interface EventBus {
  /** @throws TriphammerError `INVALID_OPTION`: there is no such event, or the observer is not a function */
  on<Type extends EventType>(type: Type, observer: Observer<Type>): () => void
  /** Whether anyone would hear it: on the hot path an event that nobody hears is not even built. */
  heard(type: EventType): boolean
  emit<Type extends EventType>(type: Type, event: Events[Type]): void
  /** How many times an observer has thrown. */
  readonly failures: number
}

/** Makes an {@link EventBus}. */
export function createEventBus(log: Logger): EventBus {
  const observers = new Map<EventType, Set<Observer<never>>>()
  let failures = 0
  const failed = (type: EventType, error: unknown): void => {
    failures++
    log.error({ event: type, error }, 'an observer threw; the event itself stands')
  }
  return {
    on(type, observer) {
      if (!Object.hasOwn(EVENT_TYPES, type)) {
        throw new TriphammerError('INVALID_OPTION', `there is no event ${show(type)}; there are ${Object.keys(EVENT_TYPES).join(', ')}`)
      }
      if (typeof observer !== 'function') throw new TriphammerError('INVALID_OPTION', `the observer of ${type} is not a function`)
      const set = observers.get(type) ?? new Set()
      observers.set(type, set)
      // A wrapper of its own, so that the same function may subscribe twice and each subscription end by itself.
      const own: Observer<typeof type> = (event) => observer(event)
      set.add(own as Observer<never>)
      return () => void set.delete(own as Observer<never>)
    },
    heard: (type) => (observers.get(type)?.size ?? 0) > 0,
    emit(type, event) {
      for (const observer of observers.get(type) ?? []) {
        try {
          const returned: unknown = (observer as Observer<typeof type>)(event)
          hearRejection(returned, (error) => failed(type, error))
        } catch (error) {
          failed(type, error)
        }
      }
    },
    get failures() {
      return failures
    },
  }
}
