import { expect, it } from 'vitest'
import { fixed } from '../src/core/retry.ts'
import type { NewJob, Outcome, Run } from '../src/store/types.ts'
import { completed, NO_TOKEN } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'

// Stores write many rows with few statements: what is said about one job must hold for each of many all the same.

const TEXTS = ['null', '0', '""', '"it\'s"', '"a\\"b\\\\c"', '[[1,"2"],{"__proto__":3}]', '"\u2028😀é"', '{"$.x":"->>"}', '-0.5e10', 'true']

async function manyRuns({ store, job, claim }: Opened, count: number): Promise<readonly Run[]> {
  const retention = [{}, { retainMs: 0 }, { retainMs: 1_000.25 }]
  await store.enqueue(Array.from({ length: count }, (_, at) => job(retention[at % 3])))
  return claim({ limit: count })
}

const statesOf = async ({ store }: Opened, outcomes: readonly Outcome[]) => (await store.finish(outcomes)).map(({ state }) => state)

forEachStore('many at once', (open) => {
  it('[I9] jobs among which some are live already, or twice: each answer is its own', async () => {
    const { store, job, find } = await open()
    const jobs = Array.from({ length: 130 }, (_, n) => job({ payload: JSON.stringify({ n }) }))
    await store.enqueue([jobs[3]!, jobs[60]!, jobs[129]!])
    const again = [...jobs, { ...jobs[7]!, payload: '"again"' }]
    const results = await store.enqueue(again)
    const known = new Set([3, 60, 129, 130])
    expect(results).toEqual(again.map(({ id }, at) => ({ id, status: known.has(at) ? 'duplicate' : 'inserted' })))
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: 130 }])
    expect((await find(jobs[7]!.id))?.payload).toBe('{"n":7}')
  })

  it('[I9] jobs among which some have ended: a repeat is a duplicate, any other takes the place of the old', async () => {
    const { store, job, add, claim, find } = await open()
    const [repeated, anew] = [await add(), await add()]
    await store.finish((await claim()).map((run) => completed(run)))
    const jobs = Array.from({ length: 120 }, (_, at) =>
      at === 50 ? job({ id: repeated, repeat: true }) : at === 70 ? job({ id: anew }) : job(),
    )
    const results = await store.enqueue(jobs)
    expect(results.map(({ status }) => status)).toEqual(jobs.map((_, at) => (at === 50 ? 'duplicate' : 'inserted')))
    expect(await store.admin.count({}, 'state')).toEqual(
      expect.arrayContaining([
        { key: 'completed', count: 1 },
        { key: 'pending', count: 119 },
      ]),
    )
    expect((await find(anew))?.state).toBe('pending')
  })

  it('[I7] the policy of each stays with it', async () => {
    const { store, job, claim } = await open()
    const policies = [{}, { timeoutMs: 1.5 }, { retainMs: 0 }, { retry: fixed('5ms') }, { queue: 'other' }, { priority: 9 }]
    const jobs = Array.from({ length: 108 }, (_, at) => job({ ...policies[at % 6], payload: TEXTS[at % 10]!, maxAttempts: at + 1 }))
    await store.enqueue(jobs)
    const runs = [...(await claim({ limit: 200 })), ...(await claim({ queue: 'other', limit: 200 }))]
    const byId = new Map(runs.map((run) => [run.id, run]))
    for (const { repeat, ...expected } of jobs) expect(byId.get(expected.id)).toMatchObject(expected)
  })

  it('completions with their results and times', async () => {
    const opened = await open()
    const runs = await manyRuns(opened, 30)
    await opened.clock.advance(100)
    const results = [undefined, ...TEXTS]
    const outcomes = runs.map((run, at) => ({ ...completed(run, results[at % 11]), startedMs: at + 0.25, endedMs: at + 40.75 }))
    expect(await statesOf(opened, outcomes)).toEqual(runs.map(() => 'applied'))
    for (const [at, { id, claimedAt }] of runs.entries()) {
      const record = await opened.find(id)
      if (at % 3 === 1) expect(record).toBeUndefined()
      else expect(record).toMatchObject({ state: 'completed', attempt: 1, startedAt: claimedAt + at + 1, endedAt: claimedAt + at + 41 })
      if (at % 3 !== 1) expect(record?.result).toBe(results[at % 11])
    }
  })

  it.each([
    ['all of them', {}],
    ['one kept among them', { 7: {} }],
    ['the first of them kept', { 0: {} }],
    ['one kept for a moment, one for long', { 3: { retainMs: 0.5 }, 11: { retainMs: 1_000 } }],
  ] as const)('completions of jobs that are forgotten: %s', async (_, exceptions: Readonly<Record<number, Partial<NewJob>>>) => {
    const opened = await open()
    const { store, job, claim, find } = opened
    const jobs = Array.from({ length: 20 }, (_, at) => job(exceptions[at] ?? { retainMs: 0 }))
    await store.enqueue(jobs)
    const runs = await claim({ limit: 20 })
    const outcomes = runs.map((run) => completed(run, '"done"'))
    const stale = { ...outcomes[5]!, lease: { id: runs[5]!.id, token: NO_TOKEN } }
    expect(await statesOf(opened, outcomes.with(5, stale))).toEqual(runs.map((run) => (run === runs[5] ? 'stale' : 'applied')))
    expect((await find(runs[5]!.id))?.state).toBe('running')
    for (const [at, { id }] of jobs.entries()) {
      if (at !== 5) expect((await find(id))?.result).toBe(at in exceptions ? '"done"' : undefined)
    }
    expect(await statesOf(opened, [outcomes[5]!])).toEqual(['applied'])
    expect(await store.admin.count({})).toEqual([{ key: 'all', count: Object.keys(exceptions).length }])
  })

  it('[I1] completions among which some are stale or to be cancelled: the others are written, of several claims', async () => {
    const opened = await open()
    const { store, find } = opened
    const runs = [...(await manyRuns(opened, 24)), ...(await manyRuns(opened, 24))]
    const [stale, cancelled, gone] = [runs[5]!, runs[9]!, runs[30]!]
    await store.admin.apply({ ids: [cancelled.id] }, { kind: 'cancel' }, { limit: 1 })
    await store.admin.remove({ ids: [gone.id] }, { limit: 1, force: true })
    const outcomes = runs.map((run) =>
      run === stale ? completed({ ...run, lease: { id: run.id, token: NO_TOKEN } }) : completed(run, '1'),
    )
    const answers = new Map([
      [stale, 'stale'],
      [cancelled, 'cancel'],
      [gone, 'stale'],
    ])
    expect(await statesOf(opened, outcomes)).toEqual(runs.map((run) => answers.get(run) ?? 'applied'))
    expect((await find(stale.id))?.state).toBe('running')
    expect(await find(cancelled.id)).toMatchObject({ state: 'running', cancelRequested: true })
    expect(await find(gone.id)).toBeUndefined()
    expect(await store.admin.count({ states: ['running'] })).toEqual([{ key: 'all', count: 2 }])
    // Said again, all of it is stale.
    expect(await statesOf(opened, outcomes)).toEqual(runs.map((run) => (run === cancelled ? 'cancel' : 'stale')))
  })

  it('[I4] what completions spawn is written with them', async () => {
    const opened = await open()
    const runs = await manyRuns(opened, 12)
    const children = runs.map(() => opened.job({ queue: 'child' }))
    expect(
      await statesOf(
        opened,
        runs.map((run, at) => ({ ...completed(run), spawn: [children[at]!] })),
      ),
    ).toEqual(runs.map(() => 'applied'))
    expect(await opened.store.admin.count({ queues: ['child'] })).toEqual([{ key: 'all', count: 12 }])
  })
})
