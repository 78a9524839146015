import { expect, it } from 'vitest'
import type { Changed, JobList } from '../src/index.ts'
import { EVERY_STATE, inEveryState, NOBODY, type OpenedCommandLine, openCommandLine } from './cli.ts'
import { forEachClient, sendEmail } from './client.ts'

interface Foreseen extends Changed {
  readonly dryRun: boolean
  readonly change: Readonly<Record<string, number>>
  readonly leave: Readonly<Record<string, number>>
}

const COMMANDS: readonly (readonly string[])[] = [
  ['retry'],
  ['retry', '--delay', '5m'],
  ['cancel', '--reason', 'enough'],
  ['cancel', '--force'],
  ['kill'],
  ['reschedule', '--at', '2027-01-01'],
  ['reprioritise', '--to', 'high'],
  ['delete'],
  ['delete', '--force'],
]

const everything = async ({ jobs }: OpenedCommandLine): Promise<JobList> => jobs.list({}, { order: 'oldest', limit: 1_000 })

forEachClient('command line: jobs, changed', (open) => {
  it.each(COMMANDS)('%s %s %s: a dry run changes nothing and foresees what is done, of ids and of conditions', async (...command) => {
    for (const byIds of [true, false]) {
      const opened = await openCommandLine(open)
      const ids = await inEveryState(opened)
      const target = byIds ? [...Object.values(ids), NOBODY] : ['--task', 'send_email']
      const argv = ['jobs', ...command.filter(Boolean), ...target, '--json']
      const before = await everything(opened)

      const dry = await opened.run([...argv, '--dry-run'])
      expect(await everything(opened)).toEqual(before)
      const foreseen = dry.json<Foreseen>()
      const told = await opened.run(argv)
      const done = told.json<Changed & { dryRun: boolean }>()
      expect([dry.code, told.code]).toEqual(byIds ? [1, 1] : [0, 0])
      expect([foreseen.dryRun, done.dryRun]).toEqual([true, false])
      expect(foreseen.changed).toBe(done.changed)
      expect(done.missing).toEqual(byIds ? [NOBODY] : [])
      expect(foreseen.missing).toEqual(done.missing)
      expect(sorted(foreseen.refused)).toEqual(sorted(done.refused))

      // What was foreseen by state is what was changed, job by job.
      const after = new Map((await everything(opened)).jobs.map((job) => [job.id, job]))
      const changed = before.jobs.filter((job) => JSON.stringify(after.get(job.id)) !== JSON.stringify(job)).map(({ state }) => state)
      const foreseenStates = Object.keys(foreseen.change)
      expect(changed.every((state) => foreseenStates.includes(state))).toBe(true)
      expect([...foreseenStates, ...Object.keys(foreseen.leave)].sort()).toEqual([...EVERY_STATE].sort())
      if (byIds)
        expect(
          sorted(done.refused)
            .map(({ state }) => state)
            .sort(),
        ).toEqual(Object.keys(foreseen.leave).sort())
    }
  })

  it('does as it is told', async () => {
    const opened = await openCommandLine(open)
    const { run, jobs, clock } = opened
    const [a, b, c, d, e] = (await jobs.enqueueMany(sendEmail, [1, 2, 3, 4, 5])).map(({ id }) => id)
    expect(await run(['jobs', 'reschedule', a!, '--delay', '1h'])).toMatchObject({ code: 0, out: '1 job rescheduled.\n', err: '' })
    expect((await jobs.get(a!))?.runAt).toEqual(new Date(clock.now() + 3_600_000))
    expect(await run(['jobs', 'reprioritise', a!, b!, '--to', '-7'])).toMatchObject({ code: 0, out: '2 jobs reprioritised.\n' })
    expect((await jobs.get(b!))?.priority).toBe(-7)
    expect(await run(['jobs', 'cancel', '--priority', '-7', '--reason', 'it is over'])).toMatchObject({
      code: 0,
      out: '2 jobs cancelled, or asked to stop.\n',
    })
    expect((await jobs.get(b!))?.error?.message).toBe('it is over')
    expect(await run(['jobs', 'kill', c!, '--reason', 'gone'])).toMatchObject({ code: 0, out: '1 job killed.\n' })
    expect(await jobs.get(c!)).toMatchObject({ state: 'dead', error: { message: 'gone' } })
    expect(await run(['jobs', 'retry', '--state', 'unsuccessful', '--delay', '1m'])).toMatchObject({ code: 0, out: '1 job retried.\n' })
    expect(await jobs.get(c!)).toMatchObject({ state: 'pending', runAt: new Date(clock.now() + 60_000) })
    await jobs.claim('default', { max: 1 })
    expect(await run(['jobs', 'delete', d!, NOBODY])).toMatchObject({
      code: 1,
      out: `0 jobs deleted.\n${d} is running: refused.\n${NOBODY} is not there.\n`,
    })
    expect(await run(['jobs', 'delete', d!, '--force'])).toMatchObject({ code: 0 })
    expect(await run(['jobs', 'delete', '--all'])).toMatchObject({ code: 0, out: '4 jobs deleted.\n' })
    expect([await jobs.count(), await jobs.get(e!)]).toEqual([0, undefined])
  })

  it('tells a dry run in words', async () => {
    const opened = await openCommandLine(open)
    await inEveryState(opened)
    expect((await opened.run(['jobs', 'retry', '--all', '--dry-run'])).out).toBe(
      '6 jobs would be retried: 1 pending, 1 running, 1 dead, 1 timed_out, 1 failed, 1 cancelled.\nLeft alone would be 1 completed.\n',
    )
    expect((await opened.run(['jobs', 'reschedule', '--state', 'dead', '--at', '2027-01-01', '--dry-run'])).out).toBe(
      '0 jobs would be rescheduled.\nLeft alone would be 1 dead.\n',
    )
  })

  it('takes ids from standard input, thousands of them, and of no id changes nothing', async () => {
    const { run, jobs } = await openCommandLine(open)
    const ids = (
      await jobs.enqueueMany(
        sendEmail,
        Array.from({ length: 2_500 }, (_, n) => n),
      )
    ).map(({ id }) => id)
    for (const flags of [['--dry-run'], []]) {
      expect((await run(['jobs', 'cancel', '-', '--json', ...flags], { input: '\n' })).json()).toMatchObject({
        changed: 0,
        refused: [],
        missing: [],
      })
    }
    expect(await jobs.countBy('state')).toEqual({ pending: 2_500 })
    const [first, second, ...rest] = ids
    const dry = await run(['jobs', 'cancel', '-', '--json', '--dry-run'], { input: [...ids, NOBODY, ids[0]!].join('\n').toUpperCase() })
    expect(dry.json()).toMatchObject({ changed: 2_500, change: { pending: 2_500 }, leave: {}, refused: [], missing: [NOBODY] })
    const told = await run(['jobs', 'cancel', first!.toUpperCase(), '-', second!, '--json'], {
      input: `\r\n${rest.join('\r\n')}\n\n${rest[0]}\n`,
    })
    // The last one is named twice, in another part.
    expect(told.json()).toMatchObject({ changed: 2_500, refused: [{ id: rest[0], state: 'cancelled' }], missing: [] })
    expect(await jobs.countBy('state')).toEqual({ cancelled: 2_500 })
  })

  it('is refused where it is not said which jobs, said twice, or said wrongly, also of a dry run', async () => {
    const { run, jobs } = await openCommandLine(open)
    await jobs.enqueue(sendEmail, 1)
    for (const [argv, words] of [
      [['cancel'], /which jobs[?]/],
      [['cancel', NOBODY, '--queue', 'q'], /exclude each other/],
      [['cancel', NOBODY, '--all'], /exclude each other/],
      [['cancel', '-', '-'], /only once/],
      [['cancel', 'x'], /INVALID_ID/],
      [['cancel', '--state', 'ended'], /"ended" is not one of pending/],
      [['cancel', '--priority', 'urgent'], /"urgent" is not a priority/],
      [['cancel', '--queue', ''], /must not be empty/],
      [['cancel', '--created-before', 'tomorrow'], /--created-before: "tomorrow" is neither/],
      [['cancel', '--created-before', '7x'], /--created-before: "7x" is not a duration/],
      [['cancel', '--created-before', '2026-02-30'], /--created-before: "2026-02-30" is not a moment/],
      [['reschedule', '--all'], /say when/],
      [['reschedule', '--all', '--at', '2027-01-01', '--delay', '1h'], /not both/],
      [['reprioritise', '--all'], /--to <priority>/],
      [['reprioritise', '--all', '--to', 'urgent'], /"urgent" is not a priority/],
      [['kill', '--all', '--reason', 'x'.repeat(2_001)], /2001 characters/],
      [['purge'], /--older-than/],
      [['purge', '--queue', 'default'], /--older-than/],
      [['purge', '--state', 'pending'], /ended jobs only/],
      [['purge', '--all', '--state', 'dead', '--state', 'running'], /ended jobs only/],
      [['purge', '--older-than', 'old'], /"old" is not a duration/],
      [['purge', '--older-than', '1d', '--ended-before', '1d'], /say the same/],
    ] as const) {
      for (const flags of [[], ['--dry-run']]) {
        const told = await run(['jobs', ...argv, ...flags], { input: '' })
        expect([argv, flags, told.code, told.out, told.err]).toEqual([argv, flags, 2, '', expect.stringMatching(words)])
      }
    }
    expect(await jobs.countBy('state')).toEqual({ pending: 1 })
  })

  it('purges what has ended, of all final states unless some are named, and of the age that is named', async () => {
    const opened = await openCommandLine(open)
    const { run, jobs, clock } = opened
    await inEveryState(opened)
    await clock.advance('3d')
    await inEveryState(opened)
    await clock.advance('1d')
    expect((await run(['jobs', 'purge', '--older-than', '2d', '--dry-run'])).out).toBe(
      '5 jobs would be purged: 1 completed, 1 dead, 1 timed_out, 1 failed, 1 cancelled.\n',
    )
    expect(await run(['jobs', 'purge', '--older-than', '2d', '--state', 'completed'])).toMatchObject({ code: 0, out: '1 job purged.\n' })
    expect(await run(['jobs', 'purge', '--older-than', '2d'])).toMatchObject({ code: 0, out: '4 jobs purged.\n' })
    expect(await run(['jobs', 'purge', '--state', 'unsuccessful'])).toMatchObject({ code: 0, out: '3 jobs purged.\n' })
    expect(await run(['jobs', 'purge', '--ended-before', '2d'])).toMatchObject({ code: 0, out: '0 jobs purged.\n' })
    expect(await run(['jobs', 'purge', '--all', '--queue', 'other'])).toMatchObject({ code: 0, out: '0 jobs purged.\n' })
    expect(await run(['jobs', 'purge', '--all'])).toMatchObject({ code: 0, out: '2 jobs purged.\n' })
    // The pending one of the first round was due in the second.
    expect(await jobs.countBy('state')).toEqual({ pending: 1, running: 3 })
  })
})

function sorted<Refused extends { readonly id: string }>(refused: readonly Refused[]): Refused[] {
  return refused.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}
