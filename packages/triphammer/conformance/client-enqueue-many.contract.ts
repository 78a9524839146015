import { expect, it } from 'vitest'
import { TriphammerError } from '../src/core/errors.ts'
import { completed } from '../src/core/outcome.ts'
import { defineTask } from '../src/core/task.ts'
import type { Store } from '../src/store/store.ts'
import { forEachClient, hastyClock, losingReplies, refused, sendEmail } from './client.ts'

const resize = defineTask<{ readonly width: number }>('resize', { queue: 'images', priority: 'low' })
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

// A store on which the n-th enqueue fails.
function failingAt(store: Store, nth: number, error: Error): Store {
  let calls = 0
  return {
    ...store,
    enqueue: async (jobs, tx) => {
      if (++calls === nth) throw error
      return store.enqueue(jobs, tx)
    },
  }
}

forEachClient('client: enqueueMany', (open) => {
  it('payloads of one task, with options for all of them', async () => {
    const { jobs, find } = await open()
    const results = await jobs.enqueueMany(resize, [{ width: 1 }, { width: 2 }, { width: 3 }], { maxAttempts: 2, delay: '1s' })
    expect(results.map(({ status }) => status)).toEqual(['inserted', 'inserted', 'inserted'])
    for (const [n, { id }] of results.entries()) {
      const expected = { task: 'resize', queue: 'images', priority: 10, maxAttempts: 2, payload: `{"width":${n + 1}}` }
      expect(await find(id)).toMatchObject(expected)
    }
  })

  it('jobs of any tasks, each with its own options', async () => {
    const { jobs, find } = await open()
    const given = [sendEmail.with('a', { priority: 5 }), resize.with({ width: 9 }), sendEmail.with('b', { queue: 'mail', timeout: 7 })]
    const [first, second, third] = await jobs.enqueueMany(given)
    expect(await find(first!.id)).toMatchObject({ task: 'send_email', queue: 'default', priority: 5, payload: '"a"' })
    expect(await find(second!.id)).toMatchObject({ task: 'resize', queue: 'images', priority: 10, payload: '{"width":9}' })
    expect(await find(third!.id)).toMatchObject({ task: 'send_email', queue: 'mail', timeoutMs: 7, payload: '"b"' })
  })

  it('[I7] results line up, duplicates included', async () => {
    const { jobs, ids, stored } = await open()
    const [known, twice] = [ids.next(), ids.next()]
    await jobs.enqueue(sendEmail, 'old', { id: known })
    const results = await jobs.enqueueMany([
      sendEmail.with(0),
      sendEmail.with(1, { id: known }),
      sendEmail.with(2, { id: twice }),
      sendEmail.with(3, { id: twice }),
      sendEmail.with(4),
    ])
    expect(results.map(({ status }) => status)).toEqual(['inserted', 'duplicate', 'inserted', 'duplicate', 'inserted'])
    expect(results.slice(1, 4).map(({ id }) => id)).toEqual([known, twice, twice])
    expect(await stored(known)).toBe('"old"')
    expect(await stored(twice)).toBe('2')
    expect(await stored(results[4]!.id)).toBe('4')
    expect(await jobs.count()).toBe(4)
  })

  it('nothing is nothing', async () => {
    const { jobs, isEmpty } = await open()
    expect(await jobs.enqueueMany([])).toEqual([])
    expect(await jobs.enqueueMany(sendEmail, [])).toEqual([])
    expect(await isEmpty()).toBe(true)
  })

  it('[I7] 2,500 jobs are in, their ids rise and they run in this order', async () => {
    const { jobs } = await open()
    const results = await jobs.enqueueMany(sendEmail, numbers(2_500))
    const made = results.map(({ id }) => id)
    expect(made).toEqual([...made].sort())
    const order: unknown[] = []
    for (let runs = await jobs.claim('default', { max: 1_000 }); runs.length > 0; runs = await jobs.claim('default', { max: 1_000 })) {
      expect(runs.map(({ id }) => id)).toEqual(made.slice(order.length, order.length + runs.length))
      order.push(...runs.map(({ payload }) => payload))
    }
    expect(order).toEqual(numbers(2_500))
  })

  it.each([2, 3])('[I4] 2,500 jobs are all or none: call %d of the store fails', async (nth) => {
    const { store, jobs, clientWith, isEmpty } = await open()
    const failing = clientWith({ store: failingAt(store, nth, new Error('the disk is full')) })
    await expect(failing.enqueueMany(sendEmail, numbers(2_500))).rejects.toThrow('the disk is full')
    expect(await isEmpty()).toBe(true)
    await failing.enqueueMany(sendEmail, numbers(2_500))
    expect(await jobs.count()).toBe(2_500)
  })

  it('one bad job among many: none is written', async () => {
    const { jobs, isEmpty } = await open()
    const payloads = [...numbers(1_200), Number.NaN]
    await refused(() => jobs.enqueueMany(sendEmail, payloads), 'PAYLOAD_NOT_JSON', /^at index 1200: .*payload is NaN/)
    await refused(
      () => jobs.enqueueMany([sendEmail.with(1), sendEmail.with(2, { delay: -1 })]),
      'INVALID_DURATION',
      /^at index 1: .*delay.*negative/,
    )
    await refused(() => jobs.enqueueMany([sendEmail.with(1), 'send_email' as never]), 'INVALID_OPTION', /^at index 1: .*is not a task/)
    expect(await isEmpty()).toBe(true)
  })

  it.each([
    ['at once', (answer: unknown) => answer],
    ['later', async (answer: unknown) => answer],
  ] as const)('one that its schema refuses %s is told by its place, and alone by nothing', async (_, reply) => {
    const { jobs, isEmpty } = await open()
    const validate = (value: unknown): unknown => reply(value === 'bad' ? { issues: [{ message: 'it is bad' }] } : { value })
    const checked = defineTask('checked', { input: { '~standard': { version: 1, vendor: 'own', validate: validate as never } } })
    await refused(() => jobs.enqueueMany(checked, ['a', 'b', 'bad', 'bad']), 'PAYLOAD_INVALID', /^at index 2: .*it is bad/)
    await refused(() => jobs.enqueueMany(checked, ['bad']), 'PAYLOAD_INVALID', /^the payload does not fit task checked: it is bad/)
    expect(await isEmpty()).toBe(true)
  })
})

forEachClient('client: a reply that got lost', (open) => {
  it.each([1, 2, 3])('[I9] %d times: the job is in once', async (times) => {
    const { store, jobs, clientWith } = await open()
    const clock = hastyClock()
    const unlucky = clientWith({ store: losingReplies(store, times), clock })
    const { id, status } = await unlucky.enqueue(sendEmail, 'once')
    expect(status).toBe('inserted')
    expect(clock.waits).toEqual([100, 200, 400].slice(0, times))
    expect((await jobs.list()).jobs).toMatchObject([{ id, payload: 'once' }])
  })

  it('[I9] and ended by the time it is said again: it is not done twice', async () => {
    const { store, jobs, clientWith } = await open()
    const work = async (): Promise<void> => {
      for (const run of await jobs.claim('default')) await jobs.finish(run, completed())
    }
    const unlucky = clientWith({ store: losingReplies(store, 2, work), clock: hastyClock() })
    const { id } = await unlucky.enqueue(sendEmail, 'once')
    expect((await jobs.list()).jobs).toMatchObject([{ id, state: 'completed', attempt: 1 }])
  })

  it('[I9] of a job with an id of its own: whether it was new is not made up', async () => {
    const { store, jobs, clientWith } = await open()
    const id = '01890a5d-ac96-774b-bcce-b302099a8057'
    await jobs.enqueue(sendEmail, 'first', { id })
    const unlucky = clientWith({ store: losingReplies(store, 1), clock: hastyClock() })
    const results = await unlucky.enqueueMany([sendEmail.with('second', { id }), sendEmail.with('third')])
    expect(results.map(({ status }) => status)).toEqual(['duplicate', 'inserted'])
    expect((await jobs.list({}, { order: 'oldest' })).jobs.map(({ payload }) => payload)).toEqual(['first', 'third'])
  })

  it('[I9] 2,500 jobs are in once', async () => {
    const { store, jobs, clientWith } = await open()
    const unlucky = clientWith({ store: losingReplies(store, 1), clock: hastyClock() })
    const results = await unlucky.enqueueMany(sendEmail, numbers(2_500))
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['inserted']))
    expect(new Set(results.map(({ id }) => id)).size).toBe(2_500)
    expect(await jobs.count()).toBe(2_500)
  })

  it('a store that stays away is told after four tries, and what it refuses for another reason at once', async () => {
    const { store, clientWith, isEmpty } = await open()
    const clock = hastyClock()
    const away = new TriphammerError('STORE_UNAVAILABLE', 'nobody answers')
    const dead: Store = { ...store, enqueue: async () => Promise.reject(away) }
    await expect(clientWith({ store: dead, clock }).enqueue(sendEmail, 1)).rejects.toBe(away)
    expect(clock.waits).toEqual([100, 200, 400])

    const full = clientWith({ store: failingAt(store, 1, new TriphammerError('STORE_BUSY', 'too busy')), clock })
    await expect(full.enqueue(sendEmail, 1)).rejects.toMatchObject({ code: 'STORE_BUSY' })
    expect(clock.waits).toHaveLength(3)
    expect(await isEmpty()).toBe(true)
  })
})
