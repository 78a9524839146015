import { expect, it } from 'vitest'
import { exponential } from '../src/core/retry.ts'
import { forEachStore } from './harness.ts'

forEachStore('enqueue', (open) => {
  it('[I7] results line up with the jobs', async () => {
    const { store, job } = await open()
    const jobs = Array.from({ length: 50 }, () => job())
    const results = await store.enqueue(jobs)
    expect(results).toEqual(jobs.map(({ id }) => ({ id, status: 'inserted' })))
  })

  it('stores everything that was said about a job', async () => {
    const { store, job, find, clock } = await open()
    const retry = exponential({ base: '2s', max: '1h', jitter: 0.2, errors: { TypeError: 'dead' } })
    const all = job({ queue: 'mail', priority: -20, maxAttempts: 7, timeoutMs: 30_000, retry, retainMs: 5_000 })
    await store.enqueue([all])
    const { id, task, queue, payload, priority, maxAttempts } = all
    expect(await find(all.id)).toEqual({
      ...{ id, task, queue, priority, maxAttempts, retry, payload: expect.any(String) },
      ...{ timeoutMs: 30_000, retainMs: 5_000 },
      state: 'pending',
      attempt: 0,
      createdAt: clock.now(),
      runAt: clock.now(),
    })
    expect(JSON.parse((await find(all.id))!.payload)).toEqual(JSON.parse(payload))
  })

  it('leaves out what was not said', async () => {
    const { add, find } = await open()
    const record = await find(await add())
    expect(Object.keys(record!).sort()).toEqual(
      ['attempt', 'createdAt', 'id', 'maxAttempts', 'payload', 'priority', 'queue', 'runAt', 'state', 'task'].sort(),
    )
  })

  it("[I5] adds a delay to the store's clock", async () => {
    const { add, find, clock } = await open()
    await clock.advance('1h')
    expect(await find(await add({ delayMs: 5_000 }))).toMatchObject({ createdAt: clock.now(), runAt: clock.now() + 5_000 })
  })

  it('takes a run time as it is, the past included', async () => {
    const { add, find, clock } = await open()
    const [past, future] = [clock.now() - 86_400_000, clock.now() + 86_400_000]
    expect((await find(await add({ runAt: past })))?.runAt).toBe(past)
    expect((await find(await add({ runAt: future })))?.runAt).toBe(future)
  })

  it('a live id is a duplicate and changes nothing', async () => {
    const { store, job, find, claim } = await open()
    const first = job({ payload: '"first"' })
    await store.enqueue([first])
    expect(await store.enqueue([{ ...first, payload: '"second"' }])).toEqual([{ id: first.id, status: 'duplicate' }])
    expect((await find(first.id))?.payload).toBe('"first"')

    await claim()
    expect(await store.enqueue([first])).toEqual([{ id: first.id, status: 'duplicate' }])
    expect((await find(first.id))?.state).toBe('running')
  })

  it('[I7] the same id twice in one call is inserted once, and its neighbours all the same', async () => {
    const { store, job } = await open()
    const [a, b, c] = [job(), job(), job()]
    const results = await store.enqueue([a, b, { ...a, payload: '"again"' }, c])
    expect(results.map(({ status }) => status)).toEqual(['inserted', 'inserted', 'duplicate', 'inserted'])
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 3 }])
  })

  it('no jobs are no work', async () => {
    const { store } = await open()
    expect(await store.enqueue([])).toEqual([])
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 0 }])
  })

  it('takes thousands of jobs in one call', async () => {
    const { store, job } = await open()
    const jobs = Array.from({ length: 2_500 }, (_, n) => job({ payload: JSON.stringify({ n }), priority: n % 7 }))
    const results = await store.enqueue(jobs)
    expect(results.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id))
    expect(results.every(({ status }) => status === 'inserted')).toBe(true)
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 2_500 }])
  })

  it('two handles that enqueue one id insert one job', async () => {
    const { store, another, job } = await open()
    const other = await another()
    const jobs = Array.from({ length: 20 }, () => job({ repeat: true }))
    const [mine, theirs] = await Promise.all([store.enqueue(jobs), other.enqueue([...jobs].reverse())])
    const statuses = jobs.map(({ id }) =>
      [...mine, ...theirs]
        .filter((result) => result.id === id)
        .map(({ status }) => status)
        .sort(),
    )
    expect(statuses).toEqual(jobs.map(() => ['duplicate', 'inserted']))
  })
})

forEachStore(
  'enqueue at once',
  (open) => {
    it('within a transaction, without awaiting anything', async () => {
      const { store, job, find } = await open()
      const mine = job()
      await store.transaction(async (tx) => {
        expect(store.facets.sync?.enqueue([mine, mine], tx)).toEqual([
          { id: mine.id, status: 'inserted' },
          { id: mine.id, status: 'duplicate' },
        ])
      })
      expect((await find(mine.id))?.state).toBe('pending')
    })

    it('is rolled back with its transaction', async () => {
      const { store, job, find } = await open()
      const mine = job()
      const failing = store.transaction(async (tx) => {
        store.facets.sync?.enqueue([mine], tx)
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await find(mine.id)).toBeUndefined()
    })
  },
  { needs: ['sync'] },
)
