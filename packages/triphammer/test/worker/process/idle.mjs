// A worker with nothing to do, on a file: prints what it weighs after it has been idle for a while.
import { defineTask } from 'triphammer'
import { sqlite } from 'triphammer/sqlite'
import { createWorker, handle } from 'triphammer/worker'

const worker = createWorker({ store: sqlite(process.argv[2]), handlers: [handle(defineTask('never'), () => {})] })
await worker.start()
await worker.idle()
setTimeout(async () => {
  console.log(JSON.stringify({ rssBytes: process.memoryUsage.rss() }))
  await worker.stop()
}, 3_000)
