// A user's program in a folder where the package is installed: `smoke.mjs memory sqlite …` runs real jobs through each of these
// and says so, one line each. It fails at the first thing that is not as it should be. For Node and Bun alike.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { completed, createClient, defineTask, retryAfter } from 'triphammer'
import { createWorker, handle } from 'triphammer/worker'

const total = defineTask('total')
const flaky = defineTask('flaky', { maxAttempts: 3 })
const tell = defineTask('tell', { queue: 'mail' })

const parts = { memory: throughMemory, sqlite: throughSqlite, testing: throughTestKit, command: throughCommand }
for (const name of process.argv.slice(2)) {
  await parts[name]()
  console.log(`${name}: well`)
}

async function throughMemory() {
  const { memory } = await import('triphammer/memory')
  const store = memory()
  await work(store)
  await store.close()
}

async function throughSqlite() {
  const { sqlite } = await import('triphammer/sqlite')
  const store = sqlite('smoke.db')
  await work(store)
  await inOwnTransaction(store)
  await store.close()
  const again = createClient({ store: sqlite('smoke.db'), logger: false })
  expectEqual('what is in the file', await again.countBy('state'), { completed: 53, dead: 1, pending: 1 })
  await again.close()
}

async function throughTestKit() {
  const { createTestKit } = await import('triphammer/testing')
  const told = []
  const kit = createTestKit({ handlers: [handle(tell, ({ payload }) => void told.push(payload))] })
  await kit.jobs.enqueue(tell, { to: 'ada' })
  kit.assertEnqueued(tell, { to: 'ada' })
  await kit.drain()
  expectEqual('drained', told, [{ to: 'ada' }])
  await kit.close()
}

async function throughCommand() {
  const { version } = JSON.parse(readFileSync('node_modules/triphammer/package.json', 'utf8'))
  const told = execFileSync(process.execPath, ['node_modules/.bin/triphammer', '--version'], { encoding: 'utf8' })
  expectEqual('the version it tells', told, `${version}\n`)
}

// Fifty jobs, one that fails once, one that gives up, and what their handlers enqueue.
async function work(store) {
  const jobs = createClient({ store, logger: false })
  await jobs.enqueueMany(
    total,
    Array.from({ length: 50 }, (_, n) => ({ n })),
  )
  const { id } = await jobs.enqueue(flaky, { fails: 1 })
  await jobs.enqueue(flaky, { fails: 1 }, { maxAttempts: 1 })
  let sum = 0
  const told = []
  const worker = createWorker({
    store,
    logger: false,
    handlers: [
      handle(total, ({ payload }) => {
        sum += payload.n
        return { n: payload.n }
      }),
      handle(flaky, async (context) => {
        if (context.attempt <= context.payload.fails) throw retryAfter('0s', new Error('not yet'))
        await context.commit((tx) => tx.enqueue(tell, { attempt: context.attempt }))
      }),
      handle(tell, ({ payload }) => void told.push(payload)),
    ],
  })
  for (let rounds = 0; (await jobs.count({ state: 'pending' })) > 0; rounds += 1) {
    if (rounds === 100) throw new Error(`still pending: ${JSON.stringify(await jobs.list({ state: 'pending' }))}`)
    await worker.runOnce()
  }
  expectEqual('what the handlers saw', { sum, told }, { sum: 1225, told: [{ attempt: 2 }] })
  expectEqual('states', await jobs.countBy('state'), { completed: 52, dead: 1 })
  const { state, attempt, error } = await jobs.get(id)
  expectEqual('a job that failed once', { state, attempt, error: error.message }, { state: 'completed', attempt: 2, error: 'not yet' })
}

// One job whose transaction rolls back, one whose commits, and one that stays for whoever opens the file next.
async function inOwnTransaction(store) {
  const jobs = createClient({ store, logger: false })
  const refused = new Error('roll back')
  const rolledBack = await jobs
    .transaction(async (tx) => {
      await jobs.in(tx.db).enqueue(total, { n: 1 })
      throw refused
    })
    .catch((error) => error)
  expectEqual('the error of the transaction', rolledBack === refused, true)
  expectEqual('rolled back', await jobs.count({ state: 'pending' }), 0)
  await jobs.transaction(async (tx) => jobs.in(tx.db).enqueueSync(total, { n: 1 }))
  const [run] = await jobs.claim('default', { max: 10, lease: '60s' })
  expectEqual('finish', [await jobs.finish(run, completed()), await jobs.finish(run, completed())], ['applied', 'stale'])
  await jobs.enqueue(total, { n: 2 }, { delay: '1h' })
}

function expectEqual(what, actual, expected) {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}
