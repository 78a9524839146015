import { expect, it } from 'vitest'
import { completed, failure, sessionInfo, WORKER } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'

const DAY = 86_400_000
const PASS = { session: WORKER, limit: 100 }

async function complete({ store, add, claim }: Opened, retainMs?: number): Promise<string> {
  const id = await add(retainMs === undefined ? {} : { retainMs })
  const [run] = await claim()
  await store.finish([completed(run!)])
  return id
}

forEachStore('maintain', (open) => {
  it('removes a completed job when its retention has ended, not a millisecond before', async () => {
    const opened = await open()
    const { store, find, clock } = opened
    const id = await complete(opened, 5_000)
    await clock.advance(4_999)
    expect(await store.maintain(PASS)).toEqual({ removed: 0, more: false })
    expect((await find(id))?.state).toBe('completed')
    await clock.advance(1)
    expect(await store.maintain(PASS)).toEqual({ removed: 1, more: false })
    expect(await find(id)).toBeUndefined()
    expect(await store.maintain(PASS)).toEqual({ removed: 0, more: false })
  })

  it('keeps a job of which nothing was said for seven days', async () => {
    const opened = await open()
    const id = await complete(opened)
    await opened.clock.advance(7 * DAY - 1)
    expect((await opened.store.maintain(PASS)).removed).toBe(0)
    expect((await opened.find(id))?.state).toBe('completed')
    await opened.clock.advance(1)
    expect((await opened.store.maintain(PASS)).removed).toBe(1)
  })

  it('retention starts at the end of the job, as its worker measured it', async () => {
    const { store, add, claim, clock } = await open()
    await add({ retainMs: 5_000 })
    const [run] = await claim()
    await clock.advance(3_000)
    await store.finish([{ ...completed(run!), startedMs: 0, endedMs: 1_000 }])
    await clock.advance(2_999)
    expect((await store.maintain(PASS)).removed).toBe(0)
    await clock.advance(1)
    expect((await store.maintain(PASS)).removed).toBe(1)
  })

  it('keeps unsuccessful, cancelled and live jobs, however old', async () => {
    const { store, add, claim, clock } = await open()
    for (const kind of ['dead', 'timed_out', 'failed', 'cancelled'] as const) {
      await add({ retainMs: 0 })
      const [run] = await claim()
      await store.finish([{ lease: run!.lease, kind, error: failure() }])
    }
    await add({ retainMs: 0 })
    await claim()
    await add({ retainMs: 0 })
    await clock.advance(400 * DAY)
    expect(await store.maintain(PASS)).toEqual({ removed: 0, more: false })
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 6 }])
  })

  it('is bounded, and tells whether there is more', async () => {
    const opened = await open()
    const { store, clock } = opened
    for (let n = 0; n < 5; n++) await complete(opened, 1_000)
    await clock.advance(1_000)
    expect(await store.maintain({ ...PASS, limit: 3 })).toEqual({ removed: 3, more: true })
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 2 }])
    let removed = 0
    for (let pass = await store.maintain({ ...PASS, limit: 3 }); ; pass = await store.maintain({ ...PASS, limit: 3 })) {
      removed += pass.removed
      if (!pass.more) break
    }
    expect(removed).toBe(2)
  })

  it('two handles at once remove each job once', async () => {
    const opened = await open()
    const { store, another, clock } = opened
    const other = await another()
    for (let n = 0; n < 10; n++) await complete(opened, 1_000)
    await clock.advance(1_000)
    const passes = await Promise.all([store.maintain(PASS), other.maintain(PASS)])
    expect(passes[0].removed + passes[1].removed).toBe(10)
  })

  it('forgets sessions that were not heard of for five minutes', async () => {
    const { store, clock } = await open()
    const other = sessionInfo({ id: '00000000-0000-7000-8000-00000000000c' })
    await store.beat(sessionInfo())
    await clock.advance('4m')
    await store.beat(other)
    await clock.advance('2m')
    await store.maintain(PASS)
    expect((await store.admin.sessions()).map(({ id }) => id)).toEqual([other.id])
  })
})
