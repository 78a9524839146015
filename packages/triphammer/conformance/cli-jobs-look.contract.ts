import { expect, it } from 'vitest'
import { fixed } from '../src/core/retry.ts'
import type { Job, JobList } from '../src/index.ts'
import { EVERY_STATE, inEveryState, NOBODY, openCommandLine } from './cli.ts'
import { forEachClient, sendEmail } from './client.ts'

const HOUR_MS = 3_600_000

forEachClient('command line: jobs, looked at', (open) => {
  it('list finds by each condition, and count counts the same', async () => {
    const { run, jobs, clock } = await openCommandLine(open)
    const add = async (queue: string, options = {}): Promise<string> => (await jobs.enqueue(sendEmail, null, { queue, ...options })).id
    const a = await add('mail', { priority: 'high' })
    await clock.advance('1h')
    const b = await add('mail', { delay: '1h' })
    const c = await add('-x', { priority: 'low' })
    await jobs.cancel(a)
    await clock.advance('1h')
    const d = await add('images')
    await jobs.kill(c)

    const cases: readonly (readonly [argv: readonly string[], found: readonly string[]])[] = [
      [[], [a, b, c, d]],
      [['--all'], [a, b, c, d]],
      [
        ['--queue', 'mail'],
        [a, b],
      ],
      [
        ['--queue=-x', '--queue', 'images'],
        [c, d],
      ],
      [['--queue', '-x'], [c]],
      [['--task', 'other'], []],
      [['--task', 'other', '--task', 'send_email', '--queue', 'images'], [d]],
      [
        ['--state', 'pending'],
        [b, d],
      ],
      [
        ['--state', 'unsuccessful', '--state', 'cancelled'],
        [a, c],
      ],
      [
        ['--priority', 'high', '--priority', '10'],
        [a, c],
      ],
      [['--priority', '-10'], [a]],
      [['--created-before', '1h'], [a]],
      [
        ['--created-after', '60m'],
        [b, c, d],
      ],
      [['--created-after', new Date(clock.now()).toISOString()], [d]],
      [
        ['--run-before', '1s'],
        [a, c],
      ],
      [
        ['--run-after', '0s'],
        [b, d],
      ],
      [['--ended-before', '30m'], [a]],
      [['--ended-after', '30m'], [c]],
      [
        ['--ended-after', '5000w'],
        [a, c],
      ],
    ]
    for (const [argv, expected] of cases) {
      const { jobs: found } = (await run(['jobs', 'list', '--order', 'oldest', '--json', ...argv])).json<JobList>()
      expect([argv, found.map(({ id }) => id)]).toEqual([argv, expected])
      expect((await run(['jobs', 'count', '--json', ...argv])).json()).toEqual({ count: expected.length })
    }
  })

  it('list pages in both orders, and tells the next page', async () => {
    const { run, jobs } = await openCommandLine(open)
    const ids = (await jobs.enqueueMany(sendEmail, [1, 2, 3, 4, 5])).map(({ id }) => id)
    const page = async (...argv: string[]): Promise<JobList> => (await run(['jobs', 'list', '--json', ...argv])).json()
    const first = await page('--limit', '2')
    expect(first.jobs.map(({ id }) => id)).toEqual([ids[4], ids[3]])
    const second = await page('--limit', '3', '--after', first.next!)
    expect(second.jobs.map(({ id }) => id)).toEqual([ids[2], ids[1], ids[0]])
    const text = await run(['jobs', 'list', '--limit', '1', '--order', 'oldest'])
    expect(text.out).toContain(ids[0])
    expect(text.err).toBe(`There may be more: --after ${ids[0]}\n`)
    expect(await run(['jobs', 'list', '--queue', 'none'])).toMatchObject({ code: 0, out: 'There is no such job.\n', err: '' })
    for (const argv of [
      ['--limit', '0'],
      ['--limit', '1001'],
      ['--limit', 'all'],
      ['--order', 'best'],
      ['--after', 'x'],
    ]) {
      expect([argv, await run(['jobs', 'list', ...argv])]).toEqual([argv, expect.objectContaining({ code: 2, out: '' })])
    }
  })

  it('list says of each job what it waits for and since when', async () => {
    const opened = await openCommandLine(open)
    const { run, jobs, clock } = opened
    const ids = await inEveryState(opened)
    const retrying = (await jobs.enqueue(sendEmail, { to: 'ada' }, { queue: 'q', retry: { kind: 'fixed', baseMs: HOUR_MS } })).id
    const [claimed] = await jobs.claim('q')
    await jobs.fail(claimed!, new Error('try again'))
    const waiting = (await jobs.enqueue(sendEmail, { to: 'ada' })).id
    await jobs.cancel(ids.running)
    await clock.advance('90s')
    const lines = (await run(['jobs', 'list', '--order', 'oldest'])).out.trimEnd().split('\n')
    const line = (id: string): string =>
      lines
        .find((text) => text.startsWith(id))!
        .slice(id.length)
        .replaceAll(/ {2,}/g, ' | ')
    expect(lines[0]!.replaceAll(/ {2,}/g, ' | ')).toBe('ID | TASK | QUEUE | STATE | WHEN | ATTEMPT | ERROR OR PAYLOAD')
    expect(line(ids.pending)).toBe(' | send_email | default | pending | in 59m | 0/25 | "pending"')
    expect(line(ids.running)).toBe(' | send_email | default | running | cancelling 90s | 1/25 | "running"')
    expect(line(ids.completed)).toBe(' | send_email | default | completed | 90s ago | 1/25 | "completed"')
    expect(line(ids.dead)).toBe(' | send_email | default | dead | 90s ago | 1/25 | TypeError: no such address')
    expect(line(retrying)).toBe(' | send_email | q | pending | retry in 59m | 1/25 | Error: try again')
    expect(line(waiting)).toBe(' | send_email | default | pending | due 90s ago | 0/25 | {"to":"ada"}')
  })

  it('list is fitted to the terminal: ids stay whole', async () => {
    const { run, jobs } = await openCommandLine(open)
    const { id } = await jobs.enqueue(sendEmail, { text: '日本語 '.repeat(1_000) }, { queue: 'q'.repeat(128) })
    for (const columns of [60, 80, 120, 200]) {
      const { out } = await run(['jobs', 'list'], { columns })
      const lines = out.trimEnd().split('\n')
      expect(lines[1]).toContain(id)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(columns, 76))
      expect(lines[1]!.includes('日本語')).toBe(columns === 200 || columns === 120)
    }
    expect((await run(['jobs', 'list'])).out).toContain('日本語 '.repeat(1_000).trim())
  })

  it('count by state, queue, task and priority', async () => {
    const opened = await openCommandLine(open)
    const { run, jobs } = opened
    await inEveryState(opened)
    await jobs.enqueueMany(sendEmail, [1, 2], { queue: '__proto__', priority: 5 })
    expect((await run(['jobs', 'count'])).out).toBe('9\n')
    expect((await run(['jobs', 'count', '--by', 'state'])).out.split('\n').map((line) => line.split(/ +/)[0])).toEqual([
      'STATE',
      ...EVERY_STATE,
      '',
    ])
    expect((await run(['jobs', 'count', '--by', 'queue'])).out).toBe('QUEUE      JOBS\ndefault       7\n__proto__     2\n')
    expect((await run(['jobs', 'count', '--by', 'priority'])).out).toBe('PRIORITY  JOBS\n0            7\n5            2\n')
    expect((await run(['jobs', 'count', '--by', 'queue', '--json'])).out).toContain('"__proto__": 2')
    expect((await run(['jobs', 'count', '--by', 'task', '--state', 'dead', '--json'])).json()).toEqual({
      by: 'task',
      counts: { send_email: 1 },
    })
    expect(await run(['jobs', 'count', '--by', 'age'])).toMatchObject({ code: 2, out: '' })
  })

  it('show tells all there is, in the order of the ids, and says who is not there', async () => {
    const opened = await openCommandLine(open)
    const { run, jobs, clock } = opened
    const ids = await inEveryState(opened)
    await clock.advance('5m')
    const shown = await run(['jobs', 'show', ids.dead, '-', NOBODY, '--json'], { input: `${ids.completed}\n${ids.running}\n` })
    expect(shown.code).toBe(1)
    const { jobs: found, missing } = shown.json<{ jobs: Job[]; missing: string[] }>()
    expect(missing).toEqual([NOBODY])
    const expected = await Promise.all([ids.dead, ids.completed, ids.running].map((id) => jobs.get(id)))
    expect(found).toEqual(JSON.parse(JSON.stringify(expected)))

    const text = await run(['jobs', 'show', ids.dead, NOBODY])
    expect(text).toMatchObject({ code: 1, err: `There is no job ${NOBODY}, or none any more.\n` })
    expect(text.out).toMatch(/^id +\S+\ntask +send_email\nqueue +default\nstate +dead\nattempt +1 of 25\npriority +0 [(]normal[)]\n/)
    expect(text.out).toMatch(
      /\nended +2026-01-01T00:00:00Z {2}[(]5m ago[)]\npayload +"dead"\nerror +TypeError: no such address\n +at .*cli[.]ts/,
    )
    const running = (await run(['jobs', 'show', ids.running])).out
    expect(running).toMatch(/\nlease until +2026-01-01T00:01:00Z {2}[(]4m ago[)]\nheld by +[0-9a-f-]{36}\npayload/)
    const own = { timeout: '90s', retry: fixed('5s'), retain: '3d' }
    const [policed, forgotten] = [await jobs.enqueue(sendEmail, 1, own), await jobs.enqueue(sendEmail, 2, { retain: false })]
    expect((await run(['jobs', 'show', policed.id])).out).toMatch(
      /\ntime limit +1m 30s\nretry +\{"kind":"fixed","baseMs":5000\}\nkept +for 3d, once it has completed\npayload/,
    )
    expect((await run(['jobs', 'show', forgotten.id])).out).toMatch(/\nkept +not, once it has completed\npayload/)
    const { out: completed } = await run(['jobs', 'show', ids.completed])
    expect(completed).toMatch(/\nresult +\{\n +"sent": true\n +\}\n$/)
    expect(await run(['jobs', 'show'])).toMatchObject({ code: 2, out: '' })
    expect(await run(['jobs', 'show', 'x'])).toMatchObject({ code: 2, out: '' })
  })
})
