import Database from 'libsql' // or better-sqlite3: the same lines; or node:sqlite
import { createClient, defineTask } from 'triphammer'
import { sqlite } from 'triphammer/sqlite'
import { createWorker, handle } from 'triphammer/worker'

const sendInvoice = defineTask<{ readonly item: string }>('send_invoice')

const db = new Database('shop.db')
db.exec('create table orders (item text); create table ledger (item text)')

// The same file, and the same driver.
const store = sqlite('shop.db', { driver: 'libsql' })
const jobs = createClient({ store })

const placeOrder = db.transaction((item: string, inStock: number) => {
  db.prepare('insert into orders (item) values (?)').run(item)
  jobs.in(db).enqueueSync(sendInvoice, { item })
  if (inStock === 0) throw new Error(`no ${item} in stock`) // rolls back: no order, and no job
})

placeOrder('lamp', 3)
try {
  placeOrder('chair', 0)
} catch (error) {
  console.log((error as Error).message)
}

// A transaction that awaits, on a connection of the store's.
await jobs.transaction(async (tx) => {
  const own = tx.db as Database.Database
  own.prepare('insert into orders (item) values (?)').run('sofa')
  await jobs.in(tx).enqueue(sendInvoice, { item: 'sofa' })
})
console.log(`${await jobs.count()} jobs`)

const worker = createWorker({
  store,
  handlers: [
    handle(sendInvoice, ({ payload, commit }) =>
      // The line in the ledger and the completion of the job land together or not at all.
      commit((tx) => {
        const own = tx.db as Database.Database
        own.prepare('insert into ledger (item) values (?)').run(payload.item)
      }),
    ),
  ],
})
await worker.runOnce()
console.log(db.prepare('select item from ledger order by item').all(), await jobs.countBy('state'))

await jobs.close()
db.close()
