import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'libsql' // or better-sqlite3; or node:sqlite
import { createClient, defineTask } from 'triphammer'
import { sqlite } from 'triphammer/sqlite'
import { createWorker, handle } from 'triphammer/worker'

const resize = defineTask<{ readonly photo: string }>('resize')

// What the processes of an application share. A folder that is missing is made.
const file = 'data/app.db'
const store = sqlite(file, { driver: 'libsql', synchronous: 'full' })

async function work(): Promise<void> {
  const worker = createWorker({ store, handlers: [handle(resize, ({ payload }) => console.log(`resizing ${payload.photo}`))] })
  await worker.runOnce() // a service calls run()
}

async function application(): Promise<void> {
  const jobs = createClient({ store })
  await jobs.enqueueMany(resize, [{ photo: 'cat.png' }, { photo: 'dog.png' }])

  // Another process on the same file.
  const [code] = (await once(fork(fileURLToPath(import.meta.url), ['worker']), 'exit')) as [number]
  console.log('the worker ended with', code, await jobs.countBy('state'))
  console.log(readdirSync('data'))

  // A copy of the database while it is in use.
  const db = new Database(file)
  db.exec(`vacuum into 'data/copy.db'`)
  db.close()

  const copy = createClient({ store: sqlite('data/copy.db', { driver: 'libsql' }) })
  console.log(await copy.countBy('state'))
  await copy.close()
}

await (process.argv[2] === 'worker' ? work() : application())
await store.close()
