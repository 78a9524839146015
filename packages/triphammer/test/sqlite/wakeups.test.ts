import { appendFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { completed, newJob, request, sessionInfo } from '../../conformance/builders.ts'
import { listen } from '../../conformance/listener.ts'
import { manualClock } from '../../src/core/manual-clock.ts'
import { createWakeups } from '../../src/stores/sqlite/wakeups.ts'
import { afterwards, freshFile, ids, runChild, storeOn, userDb } from './place.ts'

function writer(file: string): { write(): void; leave(): void } {
  const db = userDb(file)
  db.prepare('pragma journal_mode = wal').all()
  db.exec('create table if not exists notes (text)')
  return {
    write: () => db.exec("insert into notes values ('x')"),
    leave() {
      db.prepare('pragma wal_checkpoint(truncate)').all()
      db.close()
    },
  }
}

// Wakes that are on their way arrive: the watch and two rounds of the probe beneath it.
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 700))

const PRODUCER = `
  const store = sqlite(args[0])
  const id = createIds().next()
  await store.enqueue([{ id, task: 't', queue: 'default', payload: '1', priority: 0, maxAttempts: 1 }])
  await store.close()`

describe('wake-ups', () => {
  it('by another process', async () => {
    const file = freshFile()
    const store = storeOn(file)
    await store.admin.count({})
    const listener = listen(store)
    const woken = listener.next()
    await runChild(PRODUCER, [file]).ended
    await woken
    expect((await store.claim(request())).runs).toHaveLength(1)
  })

  it("by the commit of a user's transaction, and by another store of the process", async () => {
    const file = freshFile()
    const store = storeOn(file)
    await store.admin.count({})
    const listener = listen(store)
    const db = userDb(file)
    db.exec('begin')
    store.facets.sync!.enqueue([newJob(ids)], store.adopt(db))
    const woken = listener.next()
    db.exec('commit')
    await woken
    const again = listener.next()
    await storeOn(file).enqueue([newJob(ids)])
    await again
    expect((await store.claim(request())).runs).toHaveLength(2)
  })

  it('of a store that subscribed before the database was there', async () => {
    const file = freshFile()
    const store = storeOn(file)
    const listener = listen(store)
    const woken = listener.next()
    await runChild(PRODUCER, [file]).ended
    await woken
    await quiet()
    expect((await store.claim(request())).runs).toHaveLength(1)
    const again = listener.next()
    await runChild(PRODUCER, [file]).ended
    await again
    expect((await store.claim(request())).runs).toHaveLength(1)
  })

  it('what a worker does itself wakes it not: claims, finishes, extends, pulses', async () => {
    const file = freshFile()
    const store = storeOn(file)
    await store.enqueue([newJob(ids), newJob(ids)])
    const listener = listen(store)
    const before = statSync(`${file}-wal`)
    const { runs } = await store.claim(request({ limit: 1 }))
    await store.extend([runs[0]!.lease], { leaseMs: 120_000 })
    await store.claim(request({ limit: 1, finish: [completed(runs[0]!)] }))
    await store.beat(sessionInfo())
    await quiet()
    const after = statSync(`${file}-wal`)
    expect([after.mtimeMs, after.size]).not.toEqual([before.mtimeMs, before.size]) // there was something to be woken by
    expect(listener.count).toBe(0)
  })

  it('many writes of another are few wake-ups', async () => {
    const file = freshFile()
    const store = storeOn(file)
    await store.admin.count({})
    const other = storeOn(file)
    const listener = listen(store)
    const woken = listener.next()
    // All within one turn of the event loop: the watch reports them together.
    await Promise.all(Array.from({ length: 50 }, () => other.enqueue([newJob(ids)])))
    await woken
    await quiet()
    expect(listener.count).toBeLessThanOrEqual(5)
  })

  it('come on when the log was deleted and made anew', async () => {
    const file = freshFile()
    const store = storeOn(file) // it subscribes and opens nothing: its own connection would keep the log
    const before = writer(file)
    before.write()
    const listener = listen(store)
    const woken = listener.next()
    before.write()
    await woken
    before.leave()
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    await quiet()
    const again = listener.next()
    writer(file).write()
    await again
    const third = listener.next()
    writer(file).write()
    await third
    expect(listener.count).toBeGreaterThanOrEqual(3)
  })

  it('end with the last subscription, and with the store', async () => {
    const file = freshFile()
    const store = storeOn(file)
    await store.admin.count({})
    const [first, second] = [listen(store), listen(store)]
    first.stop()
    const woken = second.next()
    await storeOn(file).enqueue([newJob(ids)])
    await woken
    await store.close()
    const before = second.count
    await storeOn(file).enqueue([newJob(ids)])
    await quiet()
    expect([first.count, second.count]).toEqual([0, before])
    expect(() => listen(store)).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
  })

  it('keep no process alive', async () => {
    const child = runChild(
      `const store = sqlite(args[0])
       await store.admin.count({})
       store.facets.wakeups.subscribe(['default'], () => {})
       console.log('subscribed')`,
      [freshFile()],
    )
    expect(await child.ended).toBe('subscribed\n')
  })
})

// Wake-ups of a log that the test writes itself, on a clock of its own. A commit counts as seen once it has been told, as in SQLite.
function wakeupsByHand() {
  const file = freshFile()
  writeFileSync(`${file}-wal`, '')
  const clock = manualClock()
  const looked: (() => void)[] = []
  const seen = { looks: 0, wakes: 0, unseenCommits: 0 }
  const wakeups = createWakeups(file, clock, () => {
    seen.looks++
    for (const resolve of looked.splice(0)) resolve()
    const isWritten = seen.unseenCommits > 0
    seen.unseenCommits = 0
    return isWritten
  })
  afterwards(wakeups.subscribe(['default'], () => void seen.wakes++))
  return {
    clock,
    seen,
    write: () => appendFileSync(`${file}-wal`, 'written, not yet flushed'),
    nextLook: () => new Promise<void>((resolve) => void looked.push(resolve)),
  }
}

describe('what is reported before it can be seen', () => {
  it('is looked at until it can', async () => {
    const { clock, seen, write, nextLook } = wakeupsByHand()
    const reported = nextLook()
    write()
    await reported
    await clock.advance('5ms')
    expect(seen.wakes).toBe(0)
    seen.unseenCommits++
    await clock.advance('5ms')
    expect(seen.wakes).toBe(1)
    await clock.advance('1s')
    const before = seen.looks
    await clock.advance('1h')
    expect(seen.looks - before).toBeLessThan(10) // it has stopped; what is left are probes
  })

  it('is looked for again after the moment in which the watch is off', async () => {
    const { clock, seen, write, nextLook } = wakeupsByHand()
    const reported = nextLook()
    seen.unseenCommits++
    write()
    await reported
    await clock.advance('10ms')
    expect(seen.wakes).toBe(1)
    write() // reported to nobody
    await clock.advance('12ms')
    seen.unseenCommits++
    await clock.advance('5ms')
    expect(seen.wakes).toBe(2)
  })
})
