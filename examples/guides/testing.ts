import { defineTask, fixed, snooze } from 'triphammer'
import { createTestKit } from 'triphammer/testing'
import { handle } from 'triphammer/worker'

const fetchFeed = defineTask<{ readonly feed: string }>('fetch_feed', { queue: 'feeds', maxAttempts: 3, retry: fixed('10m') })
const index = defineTask<{ readonly feed: string; readonly items: number }>('index')

const handlers = [
  handle(fetchFeed, async ({ payload: { feed }, attempt, enqueue }) => {
    if (feed === 'flaky' && attempt < 3) throw new Error('it broke')
    await enqueue(index, { feed, items: 12 })
    return { items: 12 }
  }),
  handle(index, () => {}),
]

// A store in memory, a client, real workers, and a clock that stands still until it is moved.
const t = createTestKit({ handlers })

// The code under test is given t.jobs in the place of its own client.
await t.jobs.enqueue(fetchFeed, { feed: 'flaky' }, { delay: '1h' })
t.assertEnqueued(fetchFeed, { feed: 'flaky' }, { queue: 'feeds', delay: '1h' })

// An assertion that fails says what there is.
try {
  t.assertEnqueued(fetchFeed, { feed: 'news' })
} catch (error) {
  console.log((error as Error).message)
}

// All of it, to the end: the hour, two failures, ten minutes each, and what the last attempt enqueues.
const { completed, retried, dead } = await t.drain({ scheduled: true })
console.log({ completed, retried, dead }, new Date(t.clock.now()))

// One attempt, and what became of it.
const { outcome, error, delayMs } = await t.perform(fetchFeed, { feed: 'flaky' }, { attempt: 2 })
console.log(outcome, (error as Error).message, delayMs)
const performed = await t.perform(fetchFeed, { feed: 'news' })
console.log(performed.outcome, performed.result, performed.enqueued[0]?.payload)

// Something that never ends is told so.
const restless = defineTask('restless')
const r = createTestKit({
  handlers: [
    handle(restless, () => {
      throw snooze('1m')
    }),
  ],
})
await r.jobs.enqueue(restless)
try {
  await r.drain({ scheduled: true, limit: 100 })
} catch (endless) {
  console.log((endless as Error).message)
}
