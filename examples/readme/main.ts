import { createClient, defineTask } from 'triphammer'
import { createWorker, handle } from 'triphammer/worker'

const greet = defineTask<{ readonly name: string }>('greet', { maxAttempts: 5, timeout: '30s' })

const jobs = createClient() // the SQLite file ./.triphammer/jobs.db
await jobs.enqueue(greet, { name: 'Ada' })

const worker = createWorker({
  store: jobs.store,
  handlers: [handle(greet, async ({ payload }) => console.log(`Hello, ${payload.name}!`))],
})
await worker.runOnce() // until nothing is left to do; a service calls run()
await jobs.close()
