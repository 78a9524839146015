// Compiled, never run: taking jobs by hand, looking at jobs and changing them.
import { completed, createClient, dead, isTriphammerError, type JobState, retry, type StoreTx, snooze, TriphammerError } from 'triphammer'
import { memory } from 'triphammer/memory'
import { sqlite } from 'triphammer/sqlite'
import { same } from './same.ts'

await using jobs = createClient({ store: sqlite('jobs.db', { synchronous: 'normal' }), payloadLimit: 1_000, logger: false })
createClient()
createClient({ store: memory() })
// @ts-expect-error an option that does not exist
createClient({ stroe: memory() })
// @ts-expect-error a store, not its name
createClient({ store: 'sqlite' })
// @ts-expect-error full or normal
sqlite('jobs.db', { synchronous: 'off' })

// A claim may be of any task, so its payload is unknown.
const [run] = await jobs.claim('mail', { max: 10, lease: '60s', weights: 'default' })
if (run) {
  same<typeof run.payload, unknown>(true)
  const ended = await jobs.finish(run, completed({ id: 5 }))
  same<typeof ended, 'applied' | 'stale'>(true)
  await jobs.finish(run, retry(new Error('no'), { delay: '5s' }))
  await jobs.finish(run, dead('gone'))
  await jobs.finish(run, snooze('5m'))
  // @ts-expect-error release is a verb of its own for people
  await jobs.finish(run, { kind: 'release' })
  // @ts-expect-error not an outcome
  await jobs.finish(run, 'completed')
  const released = await jobs.release(run)
  same<typeof released, boolean>(true)
}
// @ts-expect-error the queue comes first
await jobs.claim({ max: 10 })
// @ts-expect-error not a level
await jobs.claim('mail', { weights: { urgent: 5 } })

const job = await jobs.get('01890a5d-ac96-774b-bcce-b302099a8057')
// @ts-expect-error there may be no such job
job.state
if (job) same<typeof job.state, JobState>(true)
await jobs.list({ state: 'unsuccessful', queue: ['mail', 'reports'], createdAfter: '2026-03-01' }, { order: 'oldest' })
// @ts-expect-error not a state
await jobs.list({ state: 'done' })
// @ts-expect-error not something to count by
await jobs.countBy('day')
await jobs.cancel({ queue: 'mail', all: true }, { force: true, reason: 'moved' })
// @ts-expect-error a command says which jobs
await jobs.cancel()

const count = await jobs.transaction(async (tx) => {
  same<typeof tx, StoreTx>(true)
  await jobs.in(tx).enqueueMany([])
  return 5
})
same<typeof count, number>(true)

try {
  await jobs.migrate({ dryRun: true })
} catch (error) {
  if (isTriphammerError(error, 'SCHEMA_TOO_NEW')) same<typeof error, TriphammerError>(true)
  // @ts-expect-error not a code
  isTriphammerError(error, 'SCHEMA_TOO_OLD')
}
// @ts-expect-error not a code
throw new TriphammerError('NOPE', 'no')
