// A worker in a process of its own, on a file, whose handlers run until they are told to stop. Prints a line when one starts
// and a line, with the time, when one is told.
import { defineTask } from '../../../dist/index.js'
import { sqlite } from '../../../dist/sqlite.js'
import { createWorker, handle } from '../../../dist/worker.js'

const say = (what) => console.log(JSON.stringify(what))
const worker = createWorker({
  store: sqlite(process.argv[2]),
  handlers: [
    handle(defineTask('work'), async ({ job, signal }) => {
      say({ started: job.id })
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      say({ told: job.id, at: Date.now(), code: signal.reason.code })
      return 'done all the same'
    }),
  ],
  logger: false,
})
await worker.run()
