import { createClient, defineTask } from 'triphammer'
import { sqlite } from 'triphammer/sqlite'
import { createWorker, handle } from 'triphammer/worker'

// A task: a name for a kind of work and the type of its payload. It holds no handler.
const resize = defineTask<{ readonly file: string; readonly width: number }>('resize', { maxAttempts: 3 })

// One store object for each process; any number of processes may open the same file.
const store = sqlite('jobs.db')
const jobs = createClient({ store })
const { id, status } = await jobs.enqueue(resize, { file: 'cat.png', width: 320 })
console.log(status)

const worker = createWorker({
  store,
  handlers: [
    handle(resize, async ({ payload, attempt }) => {
      console.log(`resizing ${payload.file}, attempt ${attempt}`)
      return { file: `${payload.width}-${payload.file}` } // kept as the job's result
    }),
  ],
})
await worker.runOnce() // until nothing is left to do; a service calls run() instead

const job = await jobs.get(id)
console.log(job?.state, job?.result)
await jobs.close()
