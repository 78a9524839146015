import { completed, createClient } from 'triphammer'

const jobs = createClient()
for (const run of await jobs.claim('mail', { max: 10, lease: '60s' })) {
  try {
    console.log(run.task, run.payload)
    await jobs.finish(run, completed()) // 'applied', or 'stale' if the run is not yours any more
  } catch (error) {
    await jobs.fail(run, error) // another attempt or the end, by the job's own policy
  }
}
