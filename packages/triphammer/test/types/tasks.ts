// Compiled, never run: what the types of tasks and enqueueing allow, seen from outside through the built declarations.
// A line below @ts-expect-error that compiles is an error, so each refusal is tested too.
import { createClient, defineTask, exponential, type Task } from 'triphammer'
import { z } from 'zod'
import { same } from './same.ts'

const jobs = createClient()

// With a schema the payload is what the schema takes; the handler sees what it makes of it.
const report = defineTask('report', {
  input: z.object({ day: z.string().transform((text) => new Date(text)), copies: z.number().default(1) }),
  queue: 'reports',
  priority: 'high',
  retry: exponential({ base: '2s' }),
  timeout: '30s',
  retain: false,
})
same<typeof report, Task<{ day: string; copies?: number | undefined }, { day: Date; copies: number }>>(true)

await jobs.enqueue(report, { day: '2026-03-01' })
await jobs.enqueue(report, { day: '2026-03-01', copies: 2 }, { delay: '5m', priority: 3, retain: '1d' })
// @ts-expect-error the payload is missing
await jobs.enqueue(report)
// @ts-expect-error a number is not the text that the schema takes
await jobs.enqueue(report, { day: 5 })
// @ts-expect-error what the handler sees is not what is enqueued
await jobs.enqueue(report, { day: new Date() })
// @ts-expect-error a property that the schema does not know
await jobs.enqueue(report, { day: '2026-03-01', colour: 'red' })
// @ts-expect-error an option that does not exist
await jobs.enqueue(report, { day: '2026-03-01' }, { priorty: 'high' })
// @ts-expect-error not a level
await jobs.enqueue(report, { day: '2026-03-01' }, { priority: 'urgent' })
// @ts-expect-error a function cannot be stored with a job
await jobs.enqueue(report, { day: '2026-03-01' }, { retry: () => '5s' })
// @ts-expect-error options are not a payload
await jobs.enqueue(report, { delay: '5m' })

// Without a schema a type argument says what the payload is.
const resize = defineTask<{ file: string; width: number }>('resize', { maxAttempts: 3, retry: (attempt) => (attempt < 3 ? '5s' : false) })
same<typeof resize, Task<{ file: string; width: number }, { file: string; width: number }>>(true)
await jobs.enqueue(resize, { file: 'a.png', width: 10 })
// @ts-expect-error width is missing
await jobs.enqueue(resize, { file: 'a.png' })

// With neither it is unknown, and may be left out.
const ping = defineTask('ping')
same<typeof ping, Task<unknown, unknown>>(true)
await jobs.enqueue(ping)
await jobs.enqueue(ping, undefined, { delay: 5 })
await jobs.enqueue(ping, { anything: [1, 2, 3] })

// The payload may be left out where its type allows undefined, and only there.
const sweep = defineTask<{ deep: boolean } | undefined>('sweep')
await jobs.enqueue(sweep)
await jobs.enqueue(sweep, { deep: true })
// @ts-expect-error neither undefined nor the payload
await jobs.enqueue(sweep, { deep: 'yes' })
const maybe = defineTask('maybe', { input: z.object({ n: z.number() }).optional() })
await jobs.enqueue(maybe)
await jobs.enqueue(maybe, { n: 1 })
const nothing = defineTask<null>('nothing')
await jobs.enqueue(nothing, null)
// @ts-expect-error null is not undefined
await jobs.enqueue(nothing)

// Many at once: payloads of one task, or jobs of several.
await jobs.enqueueMany(resize, [{ file: 'a.png', width: 10 }], { priority: 'low' })
await jobs.enqueueMany([resize.with({ file: 'a.png', width: 10 }), ping.with(), report.with({ day: '2026-03-01' }, { runAt: new Date(0) })])
// @ts-expect-error one of the payloads is wrong
await jobs.enqueueMany(resize, [{ file: 'a.png', width: 10 }, { file: 'b.png' }])
// @ts-expect-error with() checks the payload as well
resize.with({ file: 'a.png' })

// In a transaction.
jobs.in({}).enqueueSync(resize, { file: 'a.png', width: 10 })
// @ts-expect-error checked there too
jobs.in({}).enqueueSync(resize, { file: 1, width: 10 })

// Tasks: options are known, and a queue is not a number.
// @ts-expect-error an option that does not exist
defineTask('typo', { maxAttemps: 3 })
// @ts-expect-error not a schema
defineTask('no_schema', { input: { type: 'object' } })

// What enqueue answers is never null, and is read-only.
const answer = await jobs.enqueue(ping)
same<typeof answer.status, 'inserted' | 'replaced' | 'duplicate'>(true)
// @ts-expect-error an answer is not to be changed
answer.id = 'x'
