import { expect, it } from 'vitest'
import { z } from 'zod'
import { completed } from '../src/core/outcome.ts'
import { defineTask } from '../src/core/task.ts'
import { forEachClient, refused, sendEmail } from './client.ts'

const rollBack = new Error('roll back')

forEachClient('client: in a transaction', (open) => {
  it.each(['the transaction', 'its connection'])('[I4] what was enqueued is there once it has committed: %s', async (what) => {
    const { jobs, another } = await open()
    const outside = await another()
    const count = async (): Promise<number> => (await outside.admin.count({}))[0]!.count
    const results = await jobs.transaction(async (tx) => {
      const bound = jobs.in(what === 'the transaction' ? tx : tx.db)
      const one = await bound.enqueue(sendEmail, 1, { queue: 'mail' })
      const many = await bound.enqueueMany(sendEmail, [2, 3])
      return [one, ...many, ...(await bound.enqueueMany([sendEmail.with(4)]))]
    })
    expect(results.map(({ status }) => status)).toEqual(['inserted', 'inserted', 'inserted', 'inserted'])
    expect(await count()).toBe(4)
    expect((await jobs.list({}, { order: 'oldest' })).jobs.map(({ id }) => id)).toEqual(results.map(({ id }) => id))
  })

  it('[I4] and not at all once it was rolled back, 2,500 jobs included', async () => {
    const { jobs, isEmpty } = await open()
    const work = jobs.transaction(async (tx) => {
      await jobs.in(tx).enqueue(sendEmail, 1)
      await jobs.in(tx).enqueueMany(
        sendEmail,
        Array.from({ length: 2_500 }, (_, n) => n),
      )
      throw rollBack
    })
    await expect(work).rejects.toBe(rollBack)
    expect(await isEmpty()).toBe(true)
  })

  it('returns what its function returned', async () => {
    const { jobs } = await open()
    expect(await jobs.transaction(async () => 'value')).toBe('value')
  })

  it('fires no event: whether it commits is not known', async () => {
    const { jobs } = await open()
    await jobs.enqueue(sendEmail, 0)
    const [run] = await jobs.claim('default')
    const events: unknown[] = []
    jobs.on('job.enqueued', (event) => events.push(event))
    jobs.on('job.completed', (event) => events.push(event))
    await jobs.transaction(async (tx) => {
      await jobs.in(tx).enqueue(sendEmail, 1)
      await jobs.in(tx).finish(run!, completed())
    })
    expect(events).toEqual([])
    await jobs.enqueue(sendEmail, 2)
    expect(events).toHaveLength(1)
  })

  it('refuses bad input before anything is written, and the transaction can go on', async () => {
    const { jobs } = await open()
    await jobs.transaction(async (tx) => {
      const bound = jobs.in(tx)
      await refused(() => bound.enqueue(sendEmail, { n: 1n }), 'PAYLOAD_NOT_JSON', /payload\.n is a bigint/)
      await refused(() => bound.enqueueMany(sendEmail, [1, Number.NaN]), 'PAYLOAD_NOT_JSON', /NaN/)
      await refused(() => bound.enqueue(sendEmail, 1, { delya: 1 } as never), 'UNKNOWN_OPTION', /"delya"/)
      await bound.enqueue(sendEmail, 'good')
    })
    expect((await jobs.list()).jobs).toMatchObject([{ payload: 'good' }])
  })

  it('what is no transaction, or none any more, is refused', async () => {
    const { jobs, isEmpty } = await open()
    for (const foreign of [undefined, null, 5, 'tx', {}, [], { db: {} }, () => {}]) {
      await refused(() => jobs.in(foreign), 'TX_UNSUPPORTED', /./)
    }
    const ended = await jobs.transaction(async (tx) => ({ tx, bound: jobs.in(tx) }))
    await refused(() => jobs.in(ended.tx), 'TX_NOT_OPEN', /./)
    await refused(() => ended.bound.enqueue(sendEmail, 1), 'TX_NOT_OPEN', /./)
    expect(await isEmpty()).toBe(true)
  })
})

forEachClient('client: finish in a transaction', (open) => {
  it('[I4] the end of the run and a new job are one', async () => {
    const { jobs } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const [run] = await jobs.claim('default')
    const both = async (fails: boolean): Promise<unknown> =>
      jobs.transaction(async (tx) => {
        const answer = await jobs.in(tx).finish(run!, completed('done'))
        await jobs.in(tx).enqueue(sendEmail, 'next')
        if (fails) throw rollBack
        return answer
      })
    await expect(both(true)).rejects.toBe(rollBack)
    expect(await jobs.get(id)).toMatchObject({ state: 'running' })
    expect(await jobs.count()).toBe(1)
    expect(await both(false)).toBe('applied')
    expect(await jobs.get(id)).toMatchObject({ state: 'completed', result: 'done' })
    expect(await jobs.count()).toBe(2)
    expect(await both(false)).toBe('stale')
  })

  it('a cancel that was asked for is what becomes of it', async () => {
    const { jobs } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const [run] = await jobs.claim('default')
    await jobs.cancel(id)
    expect(await jobs.transaction(async (tx) => jobs.in(tx).finish(run!, completed()))).toBe('applied')
    expect(await jobs.get(id)).toMatchObject({ state: 'cancelled' })
  })
})

forEachClient(
  'client: enqueueSync',
  (open) => {
    it('[I4] at once, with the transaction or not at all', async () => {
      const { jobs, ids } = await open()
      const id = ids.next()
      const work = async (fails: boolean): Promise<unknown> =>
        jobs.transaction(async (tx) => {
          const result = jobs.in(tx).enqueueSync(sendEmail, { n: 1 }, { id, priority: 'high' })
          if (fails) throw rollBack
          return result
        })
      await expect(work(true)).rejects.toBe(rollBack)
      expect(await jobs.get(id)).toBeUndefined()
      expect(await work(false)).toEqual({ id, status: 'inserted' })
      expect(await work(false)).toEqual({ id, status: 'duplicate' })
      expect(await jobs.get(id)).toMatchObject({ payload: { n: 1 }, priority: -10 })
    })

    it('is refused where something is asynchronous: middleware, a schema', async () => {
      const { jobs, clientWith, isEmpty } = await open()
      const withMiddleware = clientWith({ plugins: [{ name: 'trace', setup: ({ enqueue }) => enqueue((given, next) => next(given)) }] })
      const validate = async (): Promise<never> => Promise.reject(new Error('too late to be heard'))
      const late = defineTask('late', { input: { '~standard': { version: 1, vendor: 'own', validate } } })
      const prompt = defineTask('prompt', { input: z.object({ n: z.number() }) })
      await jobs.transaction(async (tx) => {
        await refused(() => withMiddleware.in(tx).enqueueSync(sendEmail, 1), 'SYNC_UNSUPPORTED', /middleware.*use enqueue/)
        await refused(() => jobs.in(tx).enqueueSync(late, 'x'), 'SYNC_UNSUPPORTED', /schema of task late is asynchronous; use enqueue/)
        await refused(() => jobs.in(tx).enqueueSync(prompt, { n: 'x' } as never), 'PAYLOAD_INVALID', /task prompt: n: /)
        await refused(() => jobs.in(tx).enqueueSync(sendEmail, Number.NaN), 'PAYLOAD_NOT_JSON', /NaN/)
      })
      expect(await isEmpty()).toBe(true)
    })
  },
  { needs: ['sync'] },
)

forEachClient('client: enqueueSync where the driver is not synchronous', (open) => {
  it('is refused by name', async () => {
    const { jobs, store, clientWith } = await open()
    const without = clientWith({ store: { ...store, facets: {} } })
    await jobs.transaction(async (tx) => {
      await refused(() => without.in(tx).enqueueSync(sendEmail, 1), 'FACET_MISSING', /synchronous driver.*use enqueue/)
    })
  })
})
