import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EnqueueResult, Job } from '../src/index.ts'
import { openCommandLine } from './cli.ts'
import { forEachClient } from './client.ts'

type Enqueued = EnqueueResult & { readonly job: Job }

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'

// A task as defineTask makes it, written down without an import: the library may be there twice.
const TASKS = `
const validate = (value) => typeof value?.to === 'string' ? { value } : { issues: [{ message: 'must be text', path: ['to'] }] }
const with_ = () => {}
export const welcome = {
  name: 'welcome',
  policy: { queue: 'mail', maxAttempts: 3, priority: 10 },
  input: { '~standard': { version: 1, vendor: 'test', validate } },
  with: with_,
}
`

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'triphammer-cli-'))
  writeFileSync(join(cwd, 'tasks.mjs'), TASKS)
  writeFileSync(join(cwd, 'payload.json'), '\ufeff{ "to": "ada" }\n')
  writeFileSync(join(cwd, 'bad.json'), '{ "to": ')
})
afterAll(() => rmSync(cwd, { recursive: true }))

forEachClient('command line: jobs enqueue', (open) => {
  it('with what is said about the job, by defaults where no tasks are configured', async () => {
    const { run, jobs, clock } = await openCommandLine(open)
    const flags = [
      '--queue=-odd',
      '--priority',
      'high',
      '--delay',
      '5m',
      '--max-attempts',
      '3',
      '--timeout',
      '30s',
      '--retain',
      '1d',
      '--id',
      ID,
    ]
    const told = await run(['jobs', 'enqueue', 'send_email', '{"to":"ada"}', ...flags, '--json'])
    expect(told).toMatchObject({ code: 0, err: '' })
    const { id, status, job } = told.json<Enqueued>()
    expect([id, status]).toEqual([ID, 'inserted'])
    expect(job).toMatchObject({ task: 'send_email', queue: '-odd', priority: -10, maxAttempts: 3, payload: { to: 'ada' } })
    expect(await jobs.get(ID)).toMatchObject({ queue: '-odd', runAt: new Date(clock.now() + 300_000) })
    await clock.advance('5m')
    expect((await jobs.claim('-odd'))[0]).toMatchObject({ id: ID, timeoutMs: 30_000 })

    expect(await run(['jobs', 'enqueue', 'send_email', '7', '--id', ID])).toMatchObject({
      code: 0,
      out: `${ID} is there already, running: nothing was enqueued.\n`,
    })
    const plain = await run(['jobs', 'enqueue', 'send_email', '--run-at', '2027-01-01T00:00:00Z'])
    expect(plain.out).toMatch(/^Enqueued \S{36} into the queue default: task send_email, due in 364d 23h[.]\n$/)
    expect((await jobs.list({ queue: 'default' })).jobs[0]).toMatchObject({ payload: null, maxAttempts: 25, priority: 0 })
  })

  it('a job that is forgotten when it completes leaves nothing', async () => {
    const { run, jobs } = await openCommandLine(open)
    await run(['jobs', 'enqueue', 'send_email', '--retain', 'false'])
    const [claimed] = await jobs.claim('default')
    await jobs.finish(claimed!, { kind: 'completed' })
    expect(await jobs.count()).toBe(0)
  })

  it('reads the payload from an argument, standard input or a file', async () => {
    const { run, jobs } = await openCommandLine(open)
    const payload = async (argv: readonly string[], input = ''): Promise<unknown> => {
      const told = await run(['jobs', 'enqueue', 'send_email', ...argv, '--json'], { input, cwd })
      return (await jobs.get(told.json<Enqueued>().id))?.payload
    }
    expect(await payload(['-1'])).toBe(-1)
    expect(await payload([' [1, "a"]\n'])).toEqual([1, 'a'])
    expect(await payload(['-'], '\ufeff{"a":\n1}\n')).toEqual({ a: 1 })
    expect(await payload(['--file', 'payload.json'])).toEqual({ to: 'ada' })
  })

  it('refuses what is no payload, or not where it says, and writes nothing', async () => {
    const { run, isEmpty } = await openCommandLine(open)
    for (const [argv, code, words] of [
      [['ada'], 1, /PAYLOAD_NOT_JSON/],
      [[''], 1, /PAYLOAD_NOT_JSON/],
      [['-'], 1, /PAYLOAD_NOT_JSON/],
      [['--file', 'bad.json'], 1, /PAYLOAD_NOT_JSON/],
      [['--file', 'none.json'], 2, /none[.]json cannot be read/],
      [['1', '--file', 'payload.json'], 2, /given twice/],
      [['1', '--lines'], 2, /--lines reads/],
      [['"a\\u0000b"'], 2, /TEXT_INVALID/],
      [['--delay', 'soon'], 2, /INVALID_DURATION/],
      [['--delay', '1s', '--run-at', '2027-01-01'], 2, /not both/],
      [['--run-at', '7d'], 2, /is not a moment/],
      [['--max-attempts', '0'], 2, /maxAttempts: 0/],
      [['--max-attempts', 'many'], 2, /--max-attempts: "many"/],
      [['--priority', 'urgent'], 2, /not a priority/],
      [['--id', 'x'], 2, /INVALID_ID/],
      [['--id', ID, '--lines'], 2, /id of one job/],
      [['1', '2'], 2, /too many arguments/],
    ] as const) {
      const told = await run(['jobs', 'enqueue', 'send_email', ...argv], { cwd })
      expect([argv, told.code, told.out, told.err]).toEqual([argv, code, '', expect.stringMatching(words)])
    }
    expect(await run(['jobs', 'enqueue', ''])).toMatchObject({ code: 2, err: expect.stringMatching(/INVALID_NAME/) })
    expect(await isEmpty()).toBe(true)
  })

  it('holds the schema and the policy of a task that is configured, and refuses one that is not', async () => {
    const { run, jobs } = await openCommandLine(open)
    const env = { TRIPHAMMER_TASKS: 'tasks.mjs' }
    const told = await run(['jobs', 'enqueue', 'welcome', '{"to":"ada"}', '--max-attempts', '7', '--json'], { env, cwd })
    expect(told.json<Enqueued>().job).toMatchObject({ queue: 'mail', priority: 10, maxAttempts: 7 })
    const bad = await run(['jobs', 'enqueue', 'welcome', '{"to":1}', '--tasks', 'tasks.mjs'], { cwd })
    expect(bad).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/does not fit task welcome: to: must be text/) })
    const unknown = await run(['jobs', 'enqueue', 'welcom', '{"to":"ada"}'], { env, cwd })
    expect(unknown).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/no task "welcom" in .*tasks[.]mjs; there are welcome; --unchecked/),
    })
    expect(await jobs.count()).toBe(1)
    const unchecked = await run(['jobs', 'enqueue', 'welcome', '{"to":1}', '--unchecked', '--json'], { env, cwd })
    expect(unchecked.json<Enqueued>().job).toMatchObject({ queue: 'default', priority: 0, maxAttempts: 25, payload: { to: 1 } })
    expect(await run(['jobs', 'enqueue', 'welcome', '--tasks', 'none'], { cwd })).toMatchObject({ code: 2, out: '' })
  })

  it('--lines enqueues a job for each line, in their order', async () => {
    const { run, jobs } = await openCommandLine(open)
    const input = Array.from({ length: 2_001 }, (_, n) => `{"n":${n}}\r\n`).join('\n')
    expect(await run(['jobs', 'enqueue', 'count', '--lines', '--queue', 'q', '--priority', '3'], { input })).toMatchObject({
      code: 0,
      out: '2001 jobs enqueued.\n',
    })
    expect(await jobs.countBy('priority', { queue: 'q' })).toEqual({ '3': 2_001 })
    const { jobs: first } = await jobs.list({}, { order: 'oldest', limit: 3 })
    expect(first.map(({ payload }) => payload)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
    expect(await run(['jobs', 'enqueue', 'count', '--lines', '-'], { input: '\n' })).toMatchObject({ code: 0, out: '0 jobs enqueued.\n' })
    expect((await run(['jobs', 'enqueue', 'count', '--lines', '--file', 'payload.json', '--json'], { cwd })).json()).toEqual({
      enqueued: 1,
      left: 0,
    })
  })

  it('--lines with a line that is not JSON enqueues nothing', async () => {
    const { run, isEmpty } = await openCommandLine(open)
    const input = `${'1\n'.repeat(1_500)}\n{"a"\n2\n`
    expect(await run(['jobs', 'enqueue', 'count', '--lines'], { input })).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/line 1502 is not JSON/),
    })
    expect(await isEmpty()).toBe(true)
  })

  it('--lines says how far it came where a chunk is refused, and that chunk is not enqueued', async () => {
    const { run, jobs } = await openCommandLine(open)
    const lines = Array.from({ length: 2_500 }, (_, n) => (n === 1_700 ? '{"to":7}' : '{"to":"ada"}'))
    const argv = ['jobs', 'enqueue', 'welcome', '--lines', '--tasks', 'tasks.mjs']
    const told = await run(argv, { input: lines.join('\n'), cwd })
    expect(told).toMatchObject({ code: 1, out: '1000 jobs enqueued, 1500 not: line 1001 and those below it are left.\n' })
    expect(told.err).toMatch(/one of the lines 1001 to 2000: .*to: must be text/)
    expect(await jobs.count()).toBe(1_000)
    // Text that no store may hold is a wrong command line where nothing was done, but not here.
    const input = `${'1\n'.repeat(1_000)}"\\u0000"\n`
    const json = await run(['jobs', 'enqueue', 'count', '--lines', '--json'], { input })
    expect([json.code, json.json(), JSON.parse(json.err).error.code]).toEqual([
      1,
      { enqueued: 1_000, left: 1, nextLine: 1_001 },
      'TEXT_INVALID',
    ])
    expect(await run(['jobs', 'enqueue', 'count', '--lines'], { input: '"\\u0000"' })).toMatchObject({ code: 2, out: '' })
  })

  it('--lines stops behind a chunk when it is told to', async () => {
    const { run, jobs } = await openCommandLine(open)
    let left = 0
    const onSignal = (heard: () => void): (() => void) => {
      heard()
      return () => left++
    }
    const told = await run(['jobs', 'enqueue', 'count', '--lines'], { input: '1\n2\n', onSignal })
    expect(told).toMatchObject({ code: 1, out: '0 jobs enqueued, 2 not: line 1 and those below it are left.\n' })
    expect([left, await jobs.count()]).toEqual([1, 0])
  })
})
