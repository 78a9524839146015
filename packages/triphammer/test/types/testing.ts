// Compiled, never run: what a test kit makes of tasks.
import { type Client, defineTask } from 'triphammer'
import { createTestKit, type Performed, type TestJob } from 'triphammer/testing'
import { handle } from 'triphammer/worker'
import { z } from 'zod'
import { same } from './same.ts'

const mail = defineTask<{ to: string; at: Date; tags: { name: string; weight: number }[] }>('mail')
const report = defineTask('report', { input: z.object({ day: z.string().transform((text) => new Date(text)) }) })
const ping = defineTask('ping')

const t = createTestKit({
  handlers: [handle(mail, () => {}), handle(report, ({ payload }) => payload.day)],
  plugins: [],
  queues: { mail: 5 },
  timeout: '5s',
  start: new Date(),
  seed: 5,
})
same<typeof t.jobs, Client>(true)
// @ts-expect-error the store is the kit's own
createTestKit({ store: t.store })
// @ts-expect-error and so is the clock
createTestKit({ clock: t.clock })

// What is expected of a payload is part of what is enqueued, at every depth.
t.assertEnqueued(mail)
t.assertEnqueued(mail, { to: 'a@b.c' }, { count: 2, state: ['dead', 'timed_out'], priority: 'high', delay: '5m', queue: 'mail' })
t.assertEnqueued(mail, { at: new Date() })
t.assertEnqueued(mail, { at: '2026-01-01T00:00:00.000Z' })
t.assertEnqueued(mail, { tags: [{ name: 'new' }] })
t.assertEnqueued(report, { day: '2026-01-01' })
t.assertEnqueued(ping, { anything: true })
t.assertNotEnqueued()
t.assertNotEnqueued(mail, { to: 'a@b.c' }, { state: 'any' })
// @ts-expect-error a property that the payload has not
t.assertEnqueued(mail, { too: 'a@b.c' })
// @ts-expect-error of another type
t.assertEnqueued(mail, { tags: [{ weight: '2' }] })
// @ts-expect-error what is enqueued, not what the handler sees
t.assertEnqueued(report, { day: new Date() })
// @ts-expect-error a state that does not exist
t.assertEnqueued(mail, {}, { state: 'done' })
// @ts-expect-error none is none, and has no count
t.assertNotEnqueued(mail, {}, { count: 1 })
// @ts-expect-error a task, not its name
t.assertEnqueued('mail')

// What is read is what JSON has left of it.
const [job] = t.enqueued(mail)
same<
  typeof job,
  | TestJob<{ readonly to: string; readonly at: string; readonly tags: readonly { readonly name: string; readonly weight: number }[] }>
  | undefined
>(true)
same<ReturnType<typeof t.assertEnqueued<{ n: number }>>['payload'], { readonly n: number }>(true)
const any = t.enqueued(undefined, { state: 'any' })
same<typeof any, readonly TestJob<unknown>[]>(true)

const performed = await t.perform(report, { day: '2026-01-01' }, { attempt: 2, timeout: '5s' })
same<typeof performed, Performed>(true)
await t.perform(ping)
// @ts-expect-error the payload is missing
await t.perform(mail)
// @ts-expect-error of another type
await t.perform(report, { day: 5 })
// @ts-expect-error it runs now
await t.perform(ping, {}, { delay: '5m' })

const { completed, timedOut } = await t.drain({ scheduled: '1d', queue: ['a', 'b'], limit: 5 })
same<typeof completed, number>(true)
same<typeof timedOut, number>(true)
await t.drain({ scheduled: true })
await t.drain({ scheduled: new Date() })
// @ts-expect-error leave it out
await t.drain({ scheduled: false })
await t.clock.advance('1h')
await t.close()
await using another = createTestKit()
another.clock.setWallClock(5)
