import { expect, it } from 'vitest'
import type { Changed } from '../src/client/operate.ts'
import { completed, dead, timedOut } from '../src/core/outcome.ts'
import type { JobState } from '../src/core/state.ts'
import { forEachClient, type OpenedClient, refused, sendEmail } from './client.ts'

const NOW = Date.UTC(2026, 0, 1)
const NOBODY = '01890a5d-ac96-774b-bcce-b302099a8057'
const STATES: readonly JobState[] = ['pending', 'running', 'completed', 'dead', 'timed_out', 'failed', 'cancelled']

type Ids = Readonly<Record<JobState, string>>

// One job in each state.
async function inEveryState({ jobs }: OpenedClient): Promise<Ids> {
  const made = await jobs.enqueueMany(sendEmail, STATES)
  const ids = Object.fromEntries(STATES.map((state, n) => [state, made[n]!.id])) as Ids
  await jobs.failed(ids.failed)
  await jobs.cancel(ids.cancelled)
  await jobs.reschedule(ids.pending, { delay: '1h' })
  const runs = await jobs.claim('default', { max: 9 })
  const run = (state: JobState): (typeof runs)[number] => runs.find(({ id }) => id === ids[state])!
  await jobs.finish(run('completed'), completed())
  await jobs.finish(run('dead'), dead('no'))
  await jobs.finish(run('timed_out'), timedOut())
  return ids
}

interface Command {
  readonly name: string
  readonly run: (opened: OpenedClient, ids: readonly string[]) => Promise<Changed>
  /** From which states, and to which. */
  readonly to: Partial<Record<JobState, JobState | 'gone'>>
}

const COMMANDS: readonly Command[] = [
  {
    name: 'retry',
    run: ({ jobs }, ids) => jobs.retry(ids),
    to: { pending: 'pending', running: 'pending', dead: 'pending', timed_out: 'pending', failed: 'pending', cancelled: 'pending' },
  },
  { name: 'kill', run: ({ jobs }, ids) => jobs.kill(ids), to: { pending: 'dead', running: 'dead', failed: 'dead', timed_out: 'dead' } },
  { name: 'failed', run: ({ jobs }, ids) => jobs.failed(ids), to: { pending: 'failed', running: 'failed' } },
  { name: 'cancel', run: ({ jobs }, ids) => jobs.cancel(ids), to: { pending: 'cancelled', running: 'running' } },
  {
    name: 'cancel by force',
    run: ({ jobs }, ids) => jobs.cancel(ids, { force: true }),
    to: { pending: 'cancelled', running: 'cancelled' },
  },
  { name: 'reschedule', run: ({ jobs }, ids) => jobs.reschedule(ids, { at: NOW }), to: { pending: 'pending' } },
  { name: 'reprioritise', run: ({ jobs }, ids) => jobs.reprioritise(ids, 'critical'), to: { pending: 'pending' } },
  {
    name: 'delete',
    run: ({ jobs }, ids) => jobs.delete(ids),
    to: { pending: 'gone', completed: 'gone', dead: 'gone', timed_out: 'gone', failed: 'gone', cancelled: 'gone' },
  },
  {
    name: 'delete by force',
    run: ({ jobs }, ids) => jobs.delete(ids, { force: true }),
    to: { pending: 'gone', running: 'gone', completed: 'gone', dead: 'gone', timed_out: 'gone', failed: 'gone', cancelled: 'gone' },
  },
]

forEachClient('client: commands', (open) => {
  it.each(COMMANDS)('$name: from the states that it applies to; others stay and are named', async ({ run, to }) => {
    const opened = await open()
    const { jobs } = opened
    const ids = await inEveryState(opened)
    const before = await Promise.all(STATES.map((state) => jobs.get(ids[state])))
    const { changed, refused: kept, missing } = await run(opened, [...STATES.map((state) => ids[state]), NOBODY, ids.pending])
    expect(missing).toEqual([NOBODY])
    expect(changed).toBe(Object.keys(to).length)
    const untouched = STATES.filter((state) => to[state] === undefined)
    expect(kept).toHaveLength(untouched.length)
    expect(kept).toEqual(expect.arrayContaining(untouched.map((state) => ({ id: ids[state], state }))))
    for (const [n, state] of STATES.entries()) {
      const job = await jobs.get(ids[state])
      if (to[state]) expect([state, job?.state ?? 'gone']).toEqual([state, to[state]])
      else expect(job).toEqual(before[n])
    }
  })

  it('retry: attempts are kept while the job is live and start over once it has ended; the error stays', async () => {
    const opened = await open()
    const { jobs } = opened
    const ids = await inEveryState(opened)
    await jobs.retry([ids.running, ids.dead], { delay: '5m' })
    expect(await jobs.get(ids.running)).toMatchObject({ attempt: 1, runAt: new Date(NOW + 300_000), waitsFor: 'retry' })
    expect(await jobs.get(ids.dead)).toMatchObject({ attempt: 0, runAt: new Date(NOW + 300_000), error: { message: 'no' } })
    await jobs.retry(ids.dead, { at: '2026-05-01' })
    expect((await jobs.get(ids.dead))?.runAt).toEqual(new Date('2026-05-01'))
    await jobs.retry(ids.dead)
    expect((await jobs.get(ids.dead))?.runAt).toEqual(new Date(NOW))
  })

  it.each(['kill', 'failed', 'cancel'] as const)('%s: the reason is kept', async (command) => {
    const { jobs } = await open()
    const [first, second] = (await jobs.enqueueMany(sendEmail, [1, 2])).map(({ id }) => id)
    await jobs[command](first!, { reason: `it's "over" 🚂` })
    await jobs[command](second!)
    expect((await jobs.get(first!))?.error?.message).toBe(`it's "over" 🚂`)
    expect((await jobs.get(second!))?.error?.message).toMatch(/person|cancelled/)
  })

  it('[I3] a run that was taken away has lost its lease', async () => {
    const { jobs } = await open()
    await jobs.enqueueMany(sendEmail, [1, 2, 3, 4, 5])
    const runs = await jobs.claim('default', { max: 5 })
    const [a, b, c, d, e] = runs.map(({ id }) => id)
    await Promise.all([jobs.retry(a!), jobs.kill(b!), jobs.failed(c!), jobs.cancel(d!, { force: true }), jobs.delete(e!, { force: true })])
    for (const run of runs) {
      expect(await jobs.extend(run, '1m')).toBe(false)
      expect(await jobs.finish(run, completed())).toBe('stale')
    }
    expect(await jobs.countBy('state')).toEqual({ pending: 1, dead: 1, failed: 1, cancelled: 1 })
  })

  it('reschedule and reprioritise change the order', async () => {
    const { jobs } = await open()
    const [a, b, c] = (await jobs.enqueueMany(sendEmail, [1, 2, 3])).map(({ id }) => id)
    expect(await jobs.reprioritise(c!, 'high')).toEqual({ changed: 1, refused: [], missing: [] })
    expect(await jobs.reschedule(a!, { delay: '1ms' })).toEqual({ changed: 1, refused: [], missing: [] })
    expect((await jobs.claim('default', { max: 3 })).map(({ id }) => id)).toEqual([c, b])
  })

  it('by a filter, through more than one slice of 500, and nothing beside it', async () => {
    const { jobs } = await open()
    const mine = await jobs.enqueueMany(
      sendEmail,
      Array.from({ length: 1_201 }, (_, n) => n),
    )
    const other = await jobs.enqueue(sendEmail, 'other', { queue: 'other' })
    expect(await jobs.reprioritise({ queue: 'default' }, 'low')).toEqual({ changed: 1_201, refused: [], missing: [] })
    expect(await jobs.countBy('priority')).toEqual({ '0': 1, '10': 1_201 })
    expect((await jobs.cancel(mine.map(({ id }) => id))).changed).toBe(1_201)
    // By a filter, what does not fit is left alone and not listed.
    expect(await jobs.kill({ all: true }, { reason: 'clean up' })).toEqual({ changed: 1, refused: [], missing: [] })
    expect(await jobs.countBy('state')).toEqual({ cancelled: 1_201, dead: 1 })
    expect(await jobs.retry({ state: 'cancelled' })).toMatchObject({ changed: 1_201 })
    expect(await jobs.delete({ state: ['pending'] })).toMatchObject({ changed: 1_201 })
    expect((await jobs.list()).jobs.map(({ id }) => id)).toEqual([other.id])
  })

  it('an empty filter would change every job: it is refused unless that is said', async () => {
    const { jobs } = await open()
    await jobs.enqueueMany(sendEmail, [1, 2])
    const nothing = { queue: undefined } as never
    for (const empty of [{}, nothing]) {
      await refused(() => jobs.retry(empty), 'INVALID_OPTION', /filter is empty.*\{ all: true \}/)
      await refused(() => jobs.kill(empty), 'INVALID_OPTION', /filter is empty/)
      await refused(() => jobs.failed(empty), 'INVALID_OPTION', /filter is empty/)
      await refused(() => jobs.cancel(empty), 'INVALID_OPTION', /filter is empty/)
      await refused(() => jobs.reschedule(empty, { delay: 1 }), 'INVALID_OPTION', /filter is empty/)
      await refused(() => jobs.reprioritise(empty, 1), 'INVALID_OPTION', /filter is empty/)
      await refused(() => jobs.delete(empty), 'INVALID_OPTION', /filter is empty/)
    }
    await refused(() => jobs.delete({ all: false } as never), 'INVALID_OPTION', /all: false is not true/)
    await refused(() => jobs.delete({ all: 'no' } as never), 'INVALID_OPTION', /all: "no" is not true/)
    expect(await jobs.delete([])).toEqual({ changed: 0, refused: [], missing: [] })
    expect(await jobs.delete({ queue: [] })).toMatchObject({ changed: 0 })
    expect(await jobs.count({ state: 'pending' })).toBe(2)
    expect(await jobs.delete({ all: true })).toMatchObject({ changed: 2 })
  })
})
