import { expect, it } from 'vitest'
import { createClient, defineTask } from '../../src/index.ts'
import { manualClock } from '../../src/testing.ts'
import { createWorker, handle } from '../../src/worker.ts'
import { freshFile, storeOn, userDb } from '../sqlite/place.ts'

// What the guide advises for code that enqueues in transactions of its own database.
it('a manual clock serves a store on a database, with its client and its worker', async () => {
  const clock = manualClock()
  const file = freshFile()
  const store = storeOn(file, { clock })
  const jobs = createClient({ store, clock })
  await jobs.migrate()
  const db = userDb(file)
  const remind = defineTask<{ readonly to: string }>('remind')
  const seen: unknown[] = []
  const worker = createWorker({ store, clock, handlers: [handle(remind, ({ payload }) => void seen.push(payload.to))] })

  for (const end of ['rollback', 'commit']) {
    db.exec('begin immediate')
    jobs.in(db).enqueueSync(remind, { to: end }, { delay: '3d' })
    db.exec(end)
  }
  expect(await worker.runOnce()).toEqual({ started: 0 })
  await clock.advance('3d')
  expect(await worker.runOnce()).toEqual({ started: 1 })
  expect(seen).toEqual(['commit'])
})
