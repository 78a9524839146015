import { expect, it } from 'vitest'
import { completed, dead } from '../src/core/outcome.ts'
import { defineTask } from '../src/core/task.ts'
import type { EnqueueMiddleware } from '../src/extend/middleware.ts'
import type { FollowUp, Plugin } from '../src/extend/plugin.ts'
import { forEachClient, refused, sendEmail } from './client.ts'

const wrap = (...middleware: EnqueueMiddleware[]): Plugin[] =>
  middleware.map((each, n) => ({ name: `middleware-${n}`, setup: ({ enqueue }) => enqueue(each) }))

forEachClient('client: enqueue middleware', (open) => {
  it('the first is outermost, and each sees the jobs on their way in and the results on their way out', async () => {
    const seen: unknown[] = []
    const named =
      (name: string): EnqueueMiddleware =>
      async (jobs, next) => {
        seen.push([name, jobs.map(({ payload }) => payload)])
        const results = await next(jobs)
        seen.push([name, results.map(({ status }) => status)])
        return results
      }
    const { jobs } = await open({ plugins: wrap(named('outer'), named('inner')) })
    await jobs.enqueueMany(sendEmail, [1, 2])
    expect(seen).toEqual([
      ['outer', ['1', '2']],
      ['inner', ['1', '2']],
      ['inner', ['inserted', 'inserted']],
      ['outer', ['inserted', 'inserted']],
    ])
  })

  it('may change jobs; the event tells of the job as it was written', async () => {
    const { jobs, find } = await open({
      plugins: wrap((given, next) => next(given.map((job) => ({ ...job, queue: 'sealed', payload: `{"sealed":${job.payload}}` })))),
    })
    const told: unknown[] = []
    jobs.on('job.enqueued', ({ job }) => told.push(job))
    const { id } = await jobs.enqueue(sendEmail, 'secret')
    expect(await find(id)).toMatchObject({ queue: 'sealed', payload: '{"sealed":"secret"}' })
    expect(told).toEqual([{ id, task: 'send_email', queue: 'sealed' }])
  })

  it('is at work inside a transaction, and on 2,500 jobs at once', async () => {
    const counts: number[] = []
    const { jobs } = await open({
      plugins: wrap((given, next) => {
        counts.push(given.length)
        return next(given)
      }),
    })
    await jobs.transaction(async (tx) => jobs.in(tx).enqueue(sendEmail, 1))
    await jobs.enqueueMany(
      sendEmail,
      Array.from({ length: 2_500 }, (_, n) => n),
    )
    expect(counts).toEqual([1, 2_500])
    expect(await jobs.count()).toBe(2_501)
  })

  it('may refuse by throwing: nothing is written, nothing told', async () => {
    const no = new Error('not on Sundays')
    const { jobs, isEmpty } = await open({ plugins: wrap(async () => Promise.reject(no)) })
    const told: unknown[] = []
    jobs.on('job.enqueued', (event) => told.push(event))
    await expect(jobs.enqueue(sendEmail, 1)).rejects.toBe(no)
    await expect(jobs.transaction(async (tx) => jobs.in(tx).enqueue(sendEmail, 1))).rejects.toBe(no)
    expect(await isEmpty()).toBe(true)
    expect(told).toEqual([])
  })

  it('may answer by itself: nothing is written, and no event tells otherwise', async () => {
    const { jobs, isEmpty } = await open({ plugins: wrap(async (given) => given.map(({ id }) => ({ id, status: 'duplicate' as const }))) })
    const told: unknown[] = []
    jobs.on('job.enqueued', (event) => told.push(event))
    expect(await jobs.enqueue(sendEmail, 1)).toMatchObject({ status: 'duplicate' })
    expect(await isEmpty()).toBe(true)
    expect(told).toEqual([])
  })

  it.each<[string, EnqueueMiddleware]>([
    ['fewer jobs', (given, next) => next(given.slice(1))],
    ['more jobs', (given, next) => next([...given, given[0]!])],
    ['no jobs at all', (_, next) => next(undefined as never)],
    ['no results', async () => undefined as never],
    ['too few results', async () => []],
  ])('must keep the number of jobs and results: %s', async (_, middleware) => {
    const { jobs, isEmpty } = await open({ plugins: wrap(middleware) })
    await refused(() => jobs.enqueueMany(sendEmail, [1, 2]), 'INVALID_OPTION', /middleware turned 2 jobs into .*number and order/)
    expect(await isEmpty()).toBe(true)
  })

  it('cannot go on twice: the jobs would be in twice', async () => {
    const { jobs } = await open({
      plugins: wrap(async (given, next) => {
        await next(given)
        return next(given.map((job) => ({ ...job, id: job.id.replace(/^./, 'f') })))
      }),
    })
    await expect(jobs.enqueue(sendEmail, 1)).rejects.toThrow('next() twice')
    expect(await jobs.count()).toBe(1)
  })

  it('a plugin that is none is refused when the client is made', async () => {
    const { clientWith } = await open()
    await refused(() => clientWith({ plugins: [undefined as never] }), 'INVALID_OPTION', /plugins: undefined is not a plugin/)
    await refused(() => clientWith({ plugins: { name: 'x' } as never }), 'INVALID_OPTION', /plugins must be a list/)
  })
})

const audit = defineTask('audit', { queue: 'audit' })
const auditing = (followUp: FollowUp): Plugin[] => [{ name: 'audit', setup: (context) => context.followUp(followUp) }]

forEachClient('client: follow-ups of runs that were finished by hand', (open) => {
  const all: FollowUp = ({ id, state, payload, result, error, attempt }) => [
    audit.with({ id, state, payload, result, error: error?.message, attempt }),
  ]

  it('[I4] come with the end of the job, once, and not with a retry', async () => {
    const { jobs } = await open({ plugins: auditing(all) })
    const made = await jobs.enqueueMany(sendEmail, [{ n: 1 }, { n: 2 }, { n: 3 }], { maxAttempts: 2 })
    const [one, two, three] = await jobs.claim('default', { max: 3 })
    await jobs.finish(one!, completed('ok'))
    await jobs.finish(one!, completed('ok'))
    await jobs.fail(two!, 'again')
    await jobs.finish(JSON.parse(JSON.stringify(three)), dead('no'))
    const { jobs: audits } = await jobs.list({ task: 'audit' }, { order: 'oldest' })
    expect(audits.map(({ payload }) => payload)).toEqual([
      { id: made[0]!.id, state: 'completed', payload: '{"n":1}', result: '"ok"', attempt: 1 },
      { id: made[2]!.id, state: 'dead', payload: '{"n":3}', error: 'no', attempt: 1 },
    ])
    expect(audits.every(({ queue }) => queue === 'audit')).toBe(true)
  })

  it('see what the job was given, not what its worker made of it', async () => {
    const { jobs } = await open({ plugins: auditing(all) })
    await jobs.enqueue(sendEmail, { n: 1 })
    const [run] = await jobs.claim('default')
    Object.assign(run!.payload as object, { n: 2n })
    await jobs.finish({ ...run! }, completed())
    expect((await jobs.list({ task: 'audit' })).jobs).toMatchObject([{ payload: { payload: '{"n":1}' } }])
  })

  it('come with a reclaimed job that is dead, with a cancel that was asked for, and with a transaction', async () => {
    const { jobs, clock } = await open({ plugins: auditing(all) })
    await jobs.enqueueMany([sendEmail.with(1, { maxAttempts: 1 }), sendEmail.with(2), sendEmail.with(3)])
    const [, unwanted, bound] = await jobs.claim('default', { max: 3 })
    await jobs.cancel(unwanted!.id, { reason: 'enough' })
    await jobs.finish(unwanted!, completed())
    await jobs.transaction(async (tx) => jobs.in(tx).finish(bound!, completed()))
    await clock.advance('2m')
    await jobs.reclaim()
    const states = (await jobs.list({ task: 'audit' }, { order: 'oldest' })).jobs.map(({ payload }) => (payload as { state: string }).state)
    expect(states).toEqual(['cancelled', 'completed', 'dead'])
  })

  it('one that fails is logged, and the job ends without it', async () => {
    const errors: unknown[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: object, message: string) => errors.push([message, fields]) }
    const { jobs } = await open({ plugins: [...auditing(() => [audit.with(Number.NaN)]), ...auditing(all)], logger })
    const { id } = await jobs.enqueue(sendEmail, 1)
    const [run] = await jobs.claim('default')
    expect(await jobs.finish(run!, completed())).toBe('applied')
    expect(await jobs.get(id)).toMatchObject({ state: 'completed' })
    expect(await jobs.count({ task: 'audit' })).toBe(1)
    expect(errors).toEqual([[expect.stringMatching(/follow-up failed/), expect.objectContaining({ job: id, task: 'send_email' })]])
  })
})
