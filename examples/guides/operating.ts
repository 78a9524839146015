import { createClient, defineTask } from 'triphammer'
import { memory } from 'triphammer/memory'

const sync = defineTask<{ readonly account: number }>('sync_account', { queue: 'sync', maxAttempts: 1 })

const jobs = createClient({ store: memory() }) // sqlite('jobs.db') in production
const accounts = [1, 2, 3, 4].map((account) => ({ account }))
const [first, second, third] = await jobs.enqueueMany(sync, accounts)

// Look.
const page = await jobs.list({ queue: 'sync', state: 'pending' }, { order: 'oldest', limit: 3 })
console.log(page.jobs.map(({ payload, waitsFor }) => [payload, waitsFor]))
console.log(await jobs.count({ task: sync }), await jobs.countBy('state'))

// What is wrong, and what to do about it.
const { healthy, findings } = await jobs.doctor()
console.log(
  healthy,
  findings.filter(({ level }) => level !== 'ok').map(({ check, advice }) => [check, advice]),
)

// Hold a queue: nothing in it is claimed, by whatever process, until it is resumed.
await jobs.pause('sync', { by: 'ada', reason: 'the other side is down' })
console.log(await jobs.claim('sync'))
await jobs.resume('sync')

// Change single jobs, by id.
await jobs.reprioritise(second!.id, 'critical')
await jobs.reschedule(third!.id, { delay: '1h' })
await jobs.cancel(first!.id, { reason: 'the account was closed' })
const killed = await jobs.kill([first!.id, '01890a5d-ac96-774b-bcce-b302099a8057'])
console.log(killed.changed, killed.refused[0]?.state, killed.missing) // what it could not do, and why

// Take jobs by hand: what a worker does by itself.
const [run] = await jobs.claim('sync', { max: 1, lease: '60s' })
console.log(run?.payload, await jobs.extend(run!, '5m'))
await jobs.fail(run!, new Error('it broke')) // its only attempt, so the job is dead
console.log(await jobs.countBy('state'))

// Change many jobs, by what they are.
console.log(await jobs.retry({ task: sync, state: 'unsuccessful' }))
console.log(await jobs.delete({ state: 'cancelled' }))
for (const { name, pending, running } of await jobs.queues()) console.log(name, pending, running)
await jobs.close()
