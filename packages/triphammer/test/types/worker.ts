// Compiled, never run: what a handler is given, and what a worker takes.
import { defineTask, type EnqueueResult, type Observer, type Plugin, type Store } from 'triphammer'
import { memory } from 'triphammer/memory'
import { createWorker, type HandlerContext, handle } from 'triphammer/worker'
import { z } from 'zod'
import { same } from './same.ts'

const store: Store = memory()

// The payload is what the schema makes of it, the type argument, or unknown.
const report = defineTask('report', { input: z.object({ day: z.string().transform((text) => new Date(text)) }) })
const resize = defineTask<{ file: string }>('resize')
const ping = defineTask('ping')

const reportHandler = handle(report, (context) => {
  same<typeof context, HandlerContext<{ day: Date }>>(true)
  // @ts-expect-error what was enqueued is not what the handler sees
  const text: string = context.payload.day
  return text
})
const resizeHandler = handle(resize, async ({ payload, signal, attempt, job, log, progress, enqueue, cancelRequested, commit }) => {
  same<typeof payload, { file: string }>(true)
  same<typeof signal, AbortSignal>(true)
  same<typeof attempt, number>(true)
  same<typeof job.createdAt, Date>(true)
  same<typeof cancelRequested, boolean>(true)
  log.info({ file: payload.file }, 'resizing')
  progress({ percent: 50 })
  const answer = await enqueue(report, { day: '2026-03-01' })
  same<typeof answer, EnqueueResult>(true)
  // @ts-expect-error a payload enqueued by a handler is checked as well
  await enqueue(report, { day: 5 })
  const rows = await commit(async (tx) => {
    // @ts-expect-error and one enqueued by a commit
    await tx.enqueue(resize, { file: 5 })
    // @ts-expect-error what the connection is, is for the user to say
    tx.db.exec('')
    return 5
  })
  same<typeof rows, number>(true)
  // @ts-expect-error a job is not the handler's to change
  job.queue = 'other'
})
const pingHandler = handle(ping, ({ payload }) => {
  same<typeof payload, unknown>(true)
  // @ts-expect-error unknown until it has been looked at
  return payload.name
})
// @ts-expect-error a handler for another payload
handle(resize, ({ payload }: HandlerContext<{ file: number }>) => payload.file)
// @ts-expect-error a task, not its name
handle('resize', () => {})

// Handlers of different payloads go into one list.
const worker = createWorker({
  store,
  handlers: [reportHandler, resizeHandler, pingHandler],
  queues: { mail: { concurrency: 20, prefetch: 40, weights: { critical: 20 } }, default: 10 },
  lease: '30s',
  logger: false,
})
await worker.start()
await worker.stop({ grace: '5s' })
worker.on('job.dead', ({ job, error }) => {
  same<typeof job.id, string>(true)
  same<typeof error.message, string>(true)
})
// @ts-expect-error an event that does not exist
worker.on('job.exploded', () => {})
const changed: Observer<'job.dead'> = (event) => {
  // @ts-expect-error what comes with an event is not to be changed
  event.at = 5
}
worker.on('job.dead', changed)
// @ts-expect-error a worker needs handlers
createWorker({ store })
// @ts-expect-error an option that does not exist
createWorker({ store, handlers: [pingHandler], concurency: 5 })
// @ts-expect-error an option of a queue that does not exist
createWorker({ store, handlers: [pingHandler], queues: { mail: { rate: '100/min' } } })

// A plugin is given hooks and never the worker.
const plugin: Plugin = {
  name: 'audit',
  setup: ({ on, followUp, gate, ...rest }) => {
    on('job.completed', ({ result }) => void result)
    followUp((finished) => (finished.state === 'dead' ? [ping.with({ id: finished.id })] : []))
    gate({ name: 'closed', take: () => ({ granted: 0 }), refund: () => {} })
    // @ts-expect-error no worker here
    rest.worker
  },
}
createWorker({ store, handlers: [pingHandler], plugins: [plugin] })
