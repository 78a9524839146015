import { expect } from 'vitest'
import { type Client, type ClientOptions, clientOn } from '../src/client/client.ts'
import { type Clock, systemClock } from '../src/core/clock.ts'
import { type ErrorCode, isTriphammerError, TriphammerError } from '../src/core/errors.ts'
import { defineTask, type Task } from '../src/core/task.ts'
import type { Facets } from '../src/store/facets.ts'
import type { Store } from '../src/store/store.ts'
import { forEachStore, type Opened } from './harness.ts'

/** The task of most contracts. */
export const sendEmail: Task<unknown, unknown> = defineTask('send_email')

/** A fresh store with a client on it, both on a clock that the test moves. */
export interface OpenedClient extends Opened {
  readonly jobs: Client
  /** Another client on the same store. */
  clientWith(options: Partial<ClientOptions>): Client
  /** The JSON text of a job's payload as it is stored. */
  stored(id: string): Promise<string | undefined>
  /** Nothing has been written: no job, no queue. */
  isEmpty(): Promise<boolean>
}

/** Opens a store and a client for one test. */
export type OpenClient = (options?: Partial<ClientOptions>) => Promise<OpenedClient>

/** Runs contracts about the client on every store. */
export function forEachClient(
  title: string,
  contracts: (open: OpenClient) => void,
  options: { readonly needs?: readonly (keyof Facets)[] } = {},
): void {
  forEachStore(
    title,
    (open) =>
      contracts(async (given = {}) => {
        const opened = await open()
        const { store, clock, ids, find } = opened
        const clientWith = (more: Partial<ClientOptions>): Client => clientOn({ store, clock, ids, logger: false, ...more })
        return {
          ...opened,
          jobs: clientWith(given),
          clientWith,
          stored: async (id) => (await find(id))?.payload,
          isEmpty: async () => (await store.admin.count({}))[0]!.count === 0 && (await store.admin.queues()).length === 0,
        }
      }),
    options,
  )
}

/** Expects a refusal: an error of ours with this code and a message that matches. */
export async function refused(call: () => unknown, code: ErrorCode, words: RegExp): Promise<void> {
  let thrown: unknown
  try {
    thrown = { resolved: await call() }
  } catch (error) {
    thrown = error
  }
  expect(isTriphammerError(thrown), String(thrown instanceof Error ? thrown.stack : JSON.stringify(thrown))).toBe(true)
  expect(thrown).toMatchObject({ code, message: expect.stringMatching(words) })
}

/** A clock on which every wait is over at once; `waits` are those that were asked for. */
export function hastyClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = []
  return {
    ...systemClock,
    waits,
    timer(ms, fn) {
      waits.push(ms)
      return systemClock.timer(0, fn)
    },
  }
}

/** A store whose replies get lost `times` times: what was asked is done, and the caller hears that the store is away. */
export function losingReplies(store: Store, times: number, meanwhile: () => Promise<void> = async () => {}): Store {
  let left = times
  const lose = async <Reply>(reply: Reply): Promise<Reply> => {
    if (left-- <= 0) return reply
    await meanwhile()
    throw new TriphammerError('STORE_UNAVAILABLE', 'the connection was lost')
  }
  return {
    ...store,
    // Within a transaction it is the reply to the commit that gets lost.
    enqueue: async (jobs, tx) => (tx ? store.enqueue(jobs, tx) : lose(await store.enqueue(jobs))),
    transaction: async (fn) => lose(await store.transaction(fn)),
  }
}
