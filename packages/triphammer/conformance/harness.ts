import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe } from 'vitest'
import { createIds, type Ids } from '../src/core/ids.ts'
import { type ManualClock, manualClock } from '../src/core/manual-clock.ts'
import type { JobRecord } from '../src/store/admin.ts'
import type { Facets } from '../src/store/facets.ts'
import type { Store } from '../src/store/store.ts'
import type { ClaimRequest, JobId, NewJob, Run } from '../src/store/types.ts'
import { newJob, request } from './builders.ts'
import type { Place, StoreUnderTest } from './store-under-test.ts'
import { STORES } from './stores.ts'

/** A fresh store with nothing in it, on a clock that the test moves. */
export interface Opened {
  readonly store: Store
  readonly clock: ManualClock
  readonly ids: Ids
  /** A second, independent handle on the same data. */
  another(): Promise<Store>
  /** A job that is due at once, in the queue `default`; not yet enqueued. */
  job(over?: Partial<NewJob>): NewJob
  /** Enqueues such a job. */
  add(over?: Partial<NewJob>): Promise<JobId>
  /** Claims up to ten jobs of the queue `default`, for 60 s. */
  claim(over?: Partial<ClaimRequest>): Promise<readonly Run[]>
  /** A job as it is stored now. */
  find(id: JobId): Promise<JobRecord | undefined>
}

/** Opens a store for one test; whatever it opened is closed after the test. */
export type Open = () => Promise<Opened>

/**
 * Runs contracts on every store. Where a store has not all the facets that they need, they are skipped, and the note says
 * which is absent; there is no other reason to skip.
 */
export function forEachStore(
  title: string,
  contracts: (open: Open) => void,
  options: { readonly needs?: readonly (keyof Facets)[] } = {},
): void {
  for (const entry of STORES) {
    describe(`store: ${entry.name}`, () => {
      describe(title, () => contractsOn(entry, contracts, options.needs))
    })
  }
}

function contractsOn(entry: StoreUnderTest, contracts: (open: Open) => void, needs: readonly (keyof Facets)[] | undefined): void {
  const opened: (() => Promise<void>)[] = []
  const open: Open = () => openStore(entry, (close) => opened.push(close))
  if (needs) {
    beforeEach(async (context) => {
      const { store } = await open()
      const absent = needs.find((facet) => store.facets[facet] === undefined)
      if (absent) context.skip(`absent ${absent}`)
    })
  }
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close()
  })
  contracts(open)
}

/** Opens a store. `closing` gets a function for all that is to be closed, in the order of opening. */
export async function openStore(
  entry: StoreUnderTest,
  closing: (close: () => Promise<void>) => void,
  context: { readonly clock?: ManualClock; readonly ids?: Ids } = {},
): Promise<Opened> {
  const clock = context.clock ?? manualClock()
  const place = createPlace(clock, context.ids ?? createIds(clock), closing)
  const connect = async (): Promise<Store> => {
    const store = await entry.connect(place)
    closing(() => store.close())
    return store
  }
  const store = await connect()
  await store.schema.migrate()
  const { ids } = place
  return {
    store,
    clock,
    ids,
    another: connect,
    job: (over) => newJob(ids, over),
    async add(over) {
      const [result] = await store.enqueue([newJob(ids, over)])
      return result!.id
    },
    async claim(over) {
      return (await store.claim(request(over))).runs
    },
    async find(id) {
      return (await store.admin.find({ ids: [id] }, { limit: 1, order: 'oldest' })).jobs[0]
    },
  }
}

function createPlace(clock: ManualClock, ids: Ids, closing: (close: () => Promise<void>) => void): Place {
  let folder: string | undefined
  let only: { readonly value: unknown } | undefined
  return {
    clock,
    ids,
    folder() {
      if (folder !== undefined) return folder
      const made = mkdtempSync(join(tmpdir(), 'triphammer-'))
      folder = made
      closing(async () => rmSync(made, { recursive: true, force: true }))
      return folder
    },
    once<Value>(make: () => Value): Value {
      only ??= { value: make() }
      return only.value as Value
    },
  }
}
