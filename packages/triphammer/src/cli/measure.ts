import type { Clock } from '../core/clock.ts'
import { type Client, createClient, defineTask } from '../index.ts'
import type { Store } from '../store.ts'
import { createWorker, handle } from '../worker.ts'

/** How fast something was. */
export interface Rate {
  readonly what: string
  readonly jobs: number
  readonly perSecond: number
}

/** How long jobs waited for their handlers, in milliseconds. */
export interface Waits {
  readonly jobs: number
  readonly p50: number
  readonly p95: number
  readonly most: number
}

/** What was measured. */
export interface Measured {
  readonly rates: readonly Rate[]
  readonly pickUp: Waits
}

/** What {@link measure} works with. */
export interface MeasureOptions {
  /** An empty store. */
  readonly store: Store
  readonly clock: Clock
  /** Jobs of the large cases. */
  readonly jobs: number
  /** So much of the whole is done, from 0 to 1. */
  readonly reached: (share: number) => void
  /** Aborted: what is not yet measured is left out, and this rejects. */
  readonly signal: AbortSignal
}

const IN_A_CALL = 1_000
const SINGLY = 200
const PICKED_UP = 50
/** For the progress: the rates and the waits. */
const CASES = 5

const work = defineTask<{ readonly user: number; readonly mail: string }>('work', { queue: 'work' })
const stamped = defineTask<{ readonly sentAt: number }>('stamped', { queue: 'stamped', retain: false })
const payload = { user: 4711, mail: 'ada@example.org' } as const

/** Measures a store as a program uses it: handlers that do nothing, jobs with a payload of about 40 bytes, one process. */
export async function measure({ store, clock, jobs, reached, signal }: MeasureOptions): Promise<Measured> {
  const client = createClient({ store, logger: false })
  const rates: Rate[] = []
  const rate = async (what: string, count: number, act: () => Promise<unknown>): Promise<void> => {
    signal.throwIfAborted()
    const startedAt = clock.monotonic()
    await act()
    rates.push({ what, jobs: count, perSecond: Math.round((count * 1_000) / Math.max(1, clock.monotonic() - startedAt)) })
    reached(rates.length / CASES)
  }
  await client.migrate()
  await rate('enqueue, 1,000 in a call', jobs, () => enqueueMany(client, jobs, false))
  await rate('work, forgotten when done', jobs, () => drain(store))
  await enqueueMany(client, jobs, undefined)
  await rate('work, kept in the history', jobs, () => drain(store))
  await rate('enqueue, one in a call', SINGLY, () => enqueueSingly(client))
  signal.throwIfAborted()
  return { rates, pickUp: await pickUp(client, clock) }
}

async function enqueueMany(client: Client, count: number, retain: false | undefined): Promise<void> {
  for (let left = count; left > 0; left -= IN_A_CALL) {
    const payloads = Array.from({ length: Math.min(left, IN_A_CALL) }, () => payload)
    await client.enqueueMany(work, payloads, retain === undefined ? {} : { retain })
  }
}

async function enqueueSingly(client: Client): Promise<void> {
  for (let done = 0; done < SINGLY; done++) await client.enqueue(work, payload)
}

async function drain(store: Store): Promise<void> {
  const queues = { work: { concurrency: 50, prefetch: 200 } }
  await createWorker({ store, handlers: [handle(work, () => {})], queues, logger: false }).runOnce()
}

// One at a time, each when the one before has been picked up: a worker that has nothing to do is woken.
async function pickUp(client: Client, clock: Clock): Promise<Waits> {
  const waits: number[] = []
  let picked = (): void => {}
  const onJob = handle(stamped, ({ payload: { sentAt } }) => {
    waits.push(clock.monotonic() - sentAt)
    picked()
  })
  const worker = createWorker({ store: client.store, handlers: [onJob], logger: false })
  await worker.start()
  for (let sent = 0; sent < PICKED_UP; sent++) {
    await worker.idle()
    const next = new Promise<void>((resolve) => {
      picked = resolve
    })
    await client.enqueue(stamped, { sentAt: clock.monotonic() })
    await next
  }
  await worker.stop()
  waits.sort((a, b) => a - b)
  const at = (share: number): number => Number(waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]!.toFixed(1))
  return { jobs: waits.length, p50: at(0.5), p95: at(0.95), most: at(1) }
}
