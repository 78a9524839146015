import { AssertionError as NodeAssertionError } from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { createClient, defineTask } from '../../src/index.ts'
import { createTestKit, type TestKit } from '../../src/testing.ts'
import { handle } from '../../src/worker.ts'

interface Mail {
  readonly to: string
  readonly cc?: readonly string[]
  readonly body: { readonly text: string; readonly tags: readonly { readonly name: string; readonly weight: number }[] }
  readonly at?: Date
}
const mail = defineTask<Mail>('mail', { queue: 'mail', priority: 'high' })
const ping = defineTask('ping')
const ada: Mail = { to: 'ada@example.org', cc: ['bob', 'eve'], body: { text: 'Hi', tags: [{ name: 'new', weight: 2 }] } }

function failure(assertion: () => unknown): NodeAssertionError {
  try {
    assertion()
  } catch (error) {
    if (error instanceof NodeAssertionError) return error
    throw error
  }
  throw new Error('the assertion held')
}

const withMail = async (payload: Mail = ada): Promise<TestKit> => {
  const t = createTestKit()
  await t.jobs.enqueue(mail, payload)
  return t
}

describe('assertEnqueued', () => {
  it('finds a pending job by its task, and returns it', async () => {
    const t = await withMail()
    const job = t.assertEnqueued(mail)
    expect(job).toMatchObject({ task: 'mail', queue: 'mail', state: 'pending', priority: -10, attempt: 0, maxAttempts: 25, payload: ada })
    expect(job.createdAt).toEqual(new Date('2026-01-01T00:00:00Z'))
    expect(t.assertEnqueued(mail, { to: ada.to }).id).toBe(job.id)
  })

  it('returns the first that fits', async () => {
    const t = await withMail()
    const { id } = await t.jobs.enqueue(mail, { ...ada, to: 'eve' })
    await t.jobs.enqueue(mail, { ...ada, to: 'eve' })
    expect(t.assertEnqueued(mail, { to: 'eve' }).id).toBe(id)
  })

  it.each<[string, object]>([
    ['a property', { to: 'ada@example.org' }],
    ['some properties at depth', { body: { text: 'Hi' } }],
    ['items of a list, in part', { body: { tags: [{ name: 'new' }] } }],
    ['a whole list', { cc: ['bob', 'eve'] }],
    ['a property that is absent', { bcc: undefined }],
    ['nothing at all', {}],
    ['a matcher of a test runner', { to: expect.stringContaining('@'), body: expect.objectContaining({ text: 'Hi' }) as object }],
    ['the payload itself', ada],
  ])('takes %s', async (_, payload) => {
    const t = await withMail()
    expect(t.assertEnqueued(mail, payload).payload).toEqual(ada)
  })

  it.each<[string, object, string]>([
    ['another value', { to: 'eve' }, "payload.to is 'ada@example.org', expected 'eve'"],
    ['another value at depth', { body: { tags: [{ weight: 3 }] } }, 'payload.body.tags[0].weight is 2, expected 3'],
    ['a property that is not there', { bcc: ['eve'] }, "payload.bcc is absent, expected [ 'eve' ]"],
    ['a property that should not be there', { cc: undefined }, "payload.cc is [ 'bob', 'eve' ], expected undefined"],
    ['a shorter list', { cc: ['bob'] }, "payload.cc has 2 items, expected 1: [ 'bob' ]"],
    ['another order', { cc: ['eve', 'bob'] }, "payload.cc[0] is 'bob', expected 'eve'"],
    ['an object for a list', { cc: { 0: 'bob' } }, "payload.cc is [ 'bob', 'eve' ], expected { '0': 'bob' }"],
    ['a list for an object', { body: [] }, 'payload.body is {'],
    ['text for a number', { body: { tags: [{ weight: '2' }] } }, "payload.body.tags[0].weight is 2, expected '2'"],
    ['null', { to: null }, "payload.to is 'ada@example.org', expected null"],
    ['an inherited name', { constructor: expect.anything() as unknown }, 'payload.constructor is absent, expected Anything'],
    ['a matcher', { to: expect.stringContaining('eve') as unknown }, `payload.to is 'ada@example.org', expected StringContaining 'eve'`],
  ])('does not take %s', async (_, payload, line) => {
    const t = await withMail()
    expect(failure(() => t.assertEnqueued(mail, payload)).message).toContain(`\n    ${line}`)
  })

  it('expects a date as it is stored', async () => {
    const at = new Date('2026-03-01T08:00:00Z')
    const t = await withMail({ ...ada, at })
    expect(t.assertEnqueued(mail, { at }).payload.at).toBe('2026-03-01T08:00:00.000Z')
    expect(t.assertEnqueued(mail, { at: '2026-03-01T08:00:00.000Z' }).payload.to).toBe(ada.to)
    expect(failure(() => t.assertEnqueued(mail, { at: new Date(0) })).message).toContain('payload.at is')
  })

  it('looks at what else a job has', async () => {
    const t = createTestKit()
    const id = '01890a5d-ac96-774b-bcce-b302099a8057'
    await t.clock.advance('1h')
    await t.jobs.enqueue(ping, null, { id, queue: 'odd', priority: 'low', delay: '5m', maxAttempts: 3 })
    const runAt = new Date('2026-01-01T01:05:00Z')
    for (const match of [
      { id },
      { queue: 'odd' },
      { priority: 'low' },
      { priority: 10 },
      { delay: '5m' },
      { runAt },
      { maxAttempts: 3 },
    ] as const) {
      expect(t.assertEnqueued(ping, undefined, match).id).toBe(id)
    }
    const wrong = { id: '01890a5d-ac96-774b-bcce-b302099a8058', queue: 'default', priority: 'normal', maxAttempts: 25 } as const
    const { message } = failure(() => t.assertEnqueued(ping, undefined, { ...wrong, delay: '5s', runAt: '2026-01-01T01:00:00Z' }))
    expect(message).toContain("    queue is 'odd', expected 'default'\n    priority is 10, expected 0\n")
    expect(message).toContain("    id is '01890a5d-ac96-774b-bcce-b302099a8057', expected '01890a5d-ac96-774b-bcce-b302099a8058'\n")
    expect(message).toContain('    maxAttempts is 3, expected 25')
    expect(message).toContain('    delay is 300000, expected 5000\n')
    expect(message).toContain("    runAt is '2026-01-01T01:05:00.000Z', expected '2026-01-01T01:00:00.000Z'\n")
  })

  it('counts, where it is told how many', async () => {
    const t = await withMail()
    await t.jobs.enqueue(mail, ada)
    expect(t.assertEnqueued(mail, { to: ada.to }, { count: 2 }).payload).toEqual(ada)
    const error = failure(() => t.assertEnqueued(mail, {}, { count: 1 }))
    expect(error.message).toMatch(/^2 pending jobs of task mail with payload \{\}, expected 1\n {2}mail /)
    expect(error).toMatchObject({ actual: 2, expected: 1 })
  })

  it('means pending jobs, those due later and those to be tried again included, unless told', async () => {
    const t = createTestKit({
      handlers: [
        handle(ping, ({ payload }) => {
          if (payload === 'fail') throw new Error('no')
        }),
      ],
    })
    await t.jobs.enqueueMany([ping.with('fail'), ping.with('go'), ping.with('later', { delay: '1h' })])
    await t.drain()
    expect(t.assertEnqueued(ping, 'fail')).toMatchObject({ state: 'pending', attempt: 1 })
    expect(t.assertEnqueued(ping, 'later').attempt).toBe(0)
    const { message } = failure(() => t.assertEnqueued(ping, 'go'))
    expect(message).toContain("    state is 'completed', expected pending")
    expect(t.assertEnqueued(ping, 'go', { state: 'completed' }).attempt).toBe(1)
    expect(t.assertEnqueued(ping, 'go', { state: ['dead', 'completed'] }).attempt).toBe(1)
    expect(t.assertEnqueued(ping, undefined, { state: 'any', count: 3 }).payload).toBe('fail')
    expect(failure(() => t.assertEnqueued(ping, 'go', { state: ['dead', 'failed'] })).message).toContain('expected dead or failed')
  })

  it('counts what a transaction enqueues once it has committed, and never what was rolled back', async () => {
    const t = createTestKit()
    await t.jobs.transaction(async (tx) => {
      await t.jobs.in(tx).enqueue(mail, ada)
      t.jobs.in(tx).enqueueSync(ping, 1)
      t.assertNotEnqueued()
    })
    expect([t.assertEnqueued(mail).payload, t.assertEnqueued(ping).payload]).toEqual([ada, 1])
    const rolledBack = t.jobs.transaction(async (tx) => {
      t.jobs.in(tx).enqueueSync(ping, 2)
      throw new Error('roll back')
    })
    await expect(rolledBack).rejects.toThrow('roll back')
    expect(t.enqueued(ping)).toHaveLength(1)
    t.assertNotEnqueued(ping, 2)
  })

  it('counts what another client on the store enqueues', async () => {
    const t = createTestKit()
    const other = createClient({ store: t.store, clock: t.clock, logger: false })
    await other.enqueue(ping, 'other')
    expect(t.assertEnqueued(ping, 'other').queue).toBe('default')
    await other.delete({ task: ping })
    t.assertNotEnqueued(ping)
  })

  it('refuses what it does not know', async () => {
    const t = createTestKit()
    expect(() => t.assertEnqueued(ping, 1, { qeue: 'x' } as never)).toThrow(/assertEnqueued: unknown option "qeue"/)
    expect(() => t.assertEnqueued('ping' as never)).toThrow(/assertEnqueued: "ping" is not a task/)
    expect(() => t.assertEnqueued(ping, 1, { state: 'done' as never })).toThrow(/state: "done" is not one of pending/)
    expect(() => t.assertEnqueued(ping, 1, { state: [] })).toThrow(/state/)
    expect(() => t.assertEnqueued(ping, 1, { count: 0 })).toThrow(/count: 0 is not a whole number of 1 or more/)
    expect(() => t.assertNotEnqueued(ping, 1, { count: 1 } as never)).toThrow(/unknown option "count"/)
    expect(() => t.enqueued(ping, { delay: 'soon' })).toThrow(expect.objectContaining({ code: 'INVALID_DURATION' }))
  })
})

describe('the message', () => {
  it('says what was enqueued, what comes nearest first, and how it differs', async () => {
    const t = createTestKit()
    await t.jobs.enqueueMany(mail, [
      { ...ada, to: 'bob', cc: [] },
      { ...ada, to: 'eve' },
    ])
    await t.jobs.enqueueMany(ping, [1, 2])
    const error = failure(() => t.assertEnqueued(mail, { to: 'ada', cc: ['bob', 'eve'] }, { queue: 'mail' }))
    const [first, second] = t.enqueued(mail)
    const shown = (to: string, cc: string): string =>
      `mail { to: '${to}', cc: ${cc}, body: { text: 'Hi', tags: [ { name: 'new', weight: 2 } ] } }`
    expect(error.message.split('\n')).toEqual([
      "no pending job of task mail with payload { to: 'ada', cc: [ 'bob', 'eve' ] } and queue 'mail'",
      `  ${shown('eve', "[ 'bob', 'eve' ]")}: pending, queue mail, priority -10, due 2026-01-01T00:00:00.000Z, id ${second!.id}`,
      "    payload.to is 'eve', expected 'ada'",
      `  ${shown('bob', '[]')}: pending, queue mail, priority -10, due 2026-01-01T00:00:00.000Z, id ${first!.id}`,
      "    payload.to is 'bob', expected 'ada'",
      "    payload.cc has 0 items, expected 2: [ 'bob', 'eve' ]",
      'jobs of other tasks: ping ×2',
    ])
  })

  it('shows a runner the difference, of what was asked about alone', async () => {
    const t = await withMail()
    expect(failure(() => t.assertEnqueued(mail, { body: { tags: [{ name: 'old' }] } }, { queue: 'mail' }))).toMatchObject({
      code: 'ERR_ASSERTION',
      operator: 'assertEnqueued',
      actual: { payload: { body: { tags: [{ name: 'new' }] } }, queue: 'mail' },
      expected: { payload: { body: { tags: [{ name: 'old' }] } }, queue: 'mail' },
    })
    const { actual, expected } = failure(() => t.assertEnqueued(mail, { to: ada.to }, { state: 'dead' }))
    expect([actual, expected]).toEqual([
      { state: 'pending', payload: { to: ada.to } },
      { state: 'dead', payload: { to: ada.to } },
    ])
  })

  it('says when there is nothing, or nothing of this task', async () => {
    const t = createTestKit()
    expect(failure(() => t.assertEnqueued(mail)).message).toBe('no pending job of task mail\nnothing has been enqueued at all')
    await t.jobs.enqueue(ping)
    expect(failure(() => t.assertEnqueued(mail)).message).toBe(
      'no pending job of task mail\nnone of this task has been enqueued\njobs of other tasks: ping',
    )
  })

  it('does not grow with the number of jobs', async () => {
    const t = createTestKit()
    await t.jobs.enqueueMany(
      ping,
      Array.from({ length: 500 }, (_, n) => ({ n, text: 'x'.repeat(5_000) })),
    )
    const { message } = failure(() => t.assertEnqueued(ping, { n: -1 }))
    expect(message).toContain('… and 495 more')
    expect(message.length).toBeLessThan(4_000)
  })

  it('points at the line of the test', async () => {
    const t = createTestKit()
    const [, first] = failure(() => t.assertEnqueued(mail)).stack!.split('\n    at ')
    expect(first).toContain('assertions.test.ts')
  })
})

describe('assertNotEnqueued', () => {
  it('fails if there is such a job, and lists it', async () => {
    const t = await withMail()
    await t.jobs.enqueue(mail, { ...ada, to: 'eve' })
    t.assertNotEnqueued(ping)
    t.assertNotEnqueued(mail, { to: 'bob' })
    t.assertNotEnqueued(mail, { to: 'eve' }, { queue: 'default' })
    t.assertNotEnqueued(mail, undefined, { state: 'completed' })
    const error = failure(() => t.assertNotEnqueued(mail, { to: 'eve' }))
    expect(error.message).toMatch(/^1 pending job of task mail with payload \{ to: 'eve' \}, expected none\n {2}mail \{ to: 'eve'/)
    expect(error.message).not.toContain(ada.to)
    expect(error).toMatchObject({ actual: 1, expected: 0, operator: 'assertNotEnqueued' })
  })

  it('fails without arguments if anything is pending', async () => {
    const t = createTestKit()
    t.assertNotEnqueued()
    await t.jobs.enqueue(ping, 1, { delay: '1d' })
    expect(failure(() => t.assertNotEnqueued()).message).toMatch(/^1 pending job, expected none\n {2}ping 1: pending/)
  })
})

describe('enqueued', () => {
  it('lists jobs in the order in which they came, of a task or of all, pending or as told', async () => {
    const t = createTestKit({ handlers: [handle(ping, () => {})] })
    await t.jobs.enqueueMany([ping.with(1), mail.with(ada), ping.with(2)])
    expect(t.enqueued().map(({ task }) => task)).toEqual(['ping', 'mail', 'ping'])
    expect(t.enqueued(ping).map(({ payload }) => payload)).toEqual([1, 2])
    await t.drain({ queue: 'default' })
    expect(t.enqueued(ping)).toEqual([])
    expect(t.enqueued(ping, { state: 'completed' }).map(({ payload }) => payload)).toEqual([1, 2])
    expect(t.enqueued(undefined, { state: 'any', queue: 'mail' })).toHaveLength(1)
  })
})
