import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { World } from '../src/cli/world.ts'
import { TriphammerError } from '../src/core/errors.ts'
import { fixed } from '../src/core/retry.ts'
import type { HandlerContext } from '../src/worker.ts'
import { type Told, triphammer } from '../test/cli/command.ts'
import { type Bench, forEachBench, work } from './worker.ts'

/** What the handler in the file does: the test's own function, by way of the global object. */
const shared = globalThis as { cliHandler?: (context: HandlerContext<unknown>) => unknown }

/** A folder with a handler of the task `work`. */
function folderWithHandler(run: (context: HandlerContext<unknown>) => unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-work-'))
  writeFileSync(join(folder, 'work.ts'), 'export default (context: unknown) => globalThis.cliHandler(context)')
  shared.cliHandler = run
  onTestFinished(() => {
    delete shared.cliHandler
    rmSync(folder, { recursive: true })
  })
  return folder
}

/** `work` under way: its output so far, and the signals of the test. */
interface Working {
  readonly told: Promise<Told>
  out(): string
  signal(): void
}

function start({ store, clock }: Bench, argv: readonly string[], world: Partial<World> = {}): Working {
  let out = ''
  let heard: (() => void) | undefined
  const told = triphammer(['work', ...argv], {
    store,
    clock,
    out: (text) => {
      out += text
    },
    onSignal: (listener) => {
      heard = listener
      return () => {
        heard = undefined
      }
    },
    ...world,
  })
  return { told, out: () => out, signal: () => heard!() }
}

const lines = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

forEachBench('command line: work', (open) => {
  it('--once does what is due, says so, and ends', async () => {
    const bench = await open()
    const seen: unknown[] = []
    const folder = folderWithHandler(({ payload }) => void seen.push(payload))
    await bench.jobs.enqueueMany(work, [1, 2, 3])
    await bench.jobs.enqueue(work, 'later', { delay: '1h' })
    const once = start(bench, [folder, '--once'])
    expect(await bench.settled(once.told)).toMatchObject({ code: 0, err: '' })
    expect(seen).toEqual([1, 2, 3])
    expect(await bench.states()).toEqual({ completed: 3, pending: 1 })
    expect(once.out()).toMatch(/^store {3}\w+\npaths {3}.*\nqueues {2}default \(10\)\ntasks {3}work\n\S+ started, process \d+\n/)
    expect(once.out()).toMatch(/Z stopped: 3 completed, 0 unsuccessful, 0 to be tried again\n$/)
  })

  it('--once ends with 1 if a job ended unsuccessfully, and not for an attempt that will be repeated', async () => {
    const bench = await open()
    const folder = folderWithHandler(() => {
      throw new Error('it broke')
    })
    const { id } = await bench.jobs.enqueue(work, {}, { maxAttempts: 2, retry: fixed('1s') })
    const first = await bench.settled(start(bench, [folder, '--once']).told)
    expect(first).toMatchObject({ code: 0, err: expect.stringMatching(/warn {2}an attempt failed.* job=\S+ .*error="Error: it broke"/) })
    await bench.clock.advance('1s')
    const second = await bench.settled(start(bench, [folder, '--once']).told)
    expect(second).toMatchObject({ code: 1, err: expect.stringMatching(/error a job failed for good/) })
    expect(await bench.jobs.get(id)).toMatchObject({ state: 'dead', attempt: 2 })
  })

  it('[I8] works until a signal comes: what runs has its time, what is held goes back', async () => {
    const bench = await open()
    let release = (): void => {}
    const folder = folderWithHandler(() => new Promise<void>((resolve) => (release = resolve)))
    await bench.jobs.enqueueMany(work, [1, 2, 3])
    const working = start(bench, [folder, '--queue', 'default=1'])
    await bench.until(async () => (await bench.states())['running'] === 3)
    working.signal()
    await bench.until(async () => (await bench.states())['pending'] === 2)
    release()
    expect(await bench.settled(working.told)).toMatchObject({ code: 0, err: '' })
    expect(await bench.states()).toEqual({ completed: 1, pending: 2 })
    expect(working.out()).toMatch(/stopping; a second signal hurries it\n.*stopped: 1 completed/)
  })

  it('[I8] a second signal cuts the grace short', async () => {
    const bench = await open()
    const folder = folderWithHandler(() => new Promise<void>(() => {}))
    await bench.jobs.enqueue(work, {})
    const working = start(bench, [folder, '--grace', '1d'])
    await bench.until(async () => (await bench.states())['running'] === 1)
    working.signal()
    working.signal()
    expect(await bench.settled(working.told)).toMatchObject({ code: 0 })
    expect(await bench.states()).toEqual({ pending: 1 })
    expect(working.out()).toContain('stopping at once\n')
  })

  it('--once stops in order at a signal as well', async () => {
    const bench = await open()
    let release = (): void => {}
    const folder = folderWithHandler(() => new Promise<void>((resolve) => (release = resolve)))
    await bench.jobs.enqueueMany(work, [1, 2])
    const working = start(bench, [folder, '--once', '--concurrency', '1'])
    await bench.until(async () => (await bench.states())['running'] === 2)
    working.signal()
    await bench.until(async () => (await bench.states())['pending'] === 1)
    release()
    expect(await bench.settled(working.told)).toMatchObject({ code: 0 })
    expect(await bench.states()).toEqual({ completed: 1, pending: 1 })
  })

  it('options hold: the time limit, the attempts, the queue', async () => {
    const bench = await open()
    const folder = folderWithHandler(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    )
    const { id } = await bench.jobs.enqueue(work, {}, { queue: 'slow' })
    await bench.jobs.enqueue(work, {})
    const argv = [folder, '--once', '--queue', 'slow', '--timeout', '5s', '--max-attempts', '1']
    expect(await bench.settled(start(bench, argv).told)).toMatchObject({ code: 1 })
    expect(await bench.jobs.get(id)).toMatchObject({ state: 'timed_out', attempt: 1, maxAttempts: 25 })
    expect(await bench.states()).toEqual({ timed_out: 1, pending: 1 })
  })

  it('--verbose tells each job to people, printable, and leaves to the log what the log says', async () => {
    const bench = await open()
    const folder = folderWithHandler(({ payload }) => {
      if (payload === 'bad') throw new Error('it broke')
    })
    await bench.jobs.enqueueMany(work, ['good', 'bad'], { maxAttempts: 1, queue: 'a\u001b[2J' })
    const once = start(bench, [folder, '--once', '--verbose', '--queue', 'a\u001b[2J'])
    const { err } = await bench.settled(once.told)
    expect(once.out()).toContain('queues  a\\u001b[2J (10)\n')
    expect(once.out().match(/Z started {3}work \S+ \(attempt 1\)\n/g)).toHaveLength(2)
    expect(once.out().match(/Z completed work \S+ \(attempt 1, \d+ms\)\n/g)).toHaveLength(1)
    expect(once.out()).not.toContain('dead')
    expect(err).toMatch(/a job failed for good.*\nError: it broke\n {4}at /)
  })

  it('--json writes an object for each line, with --verbose every event of a job, and no result', async () => {
    const bench = await open()
    const folder = folderWithHandler(({ payload, log }) => {
      log.info({ payload }, 'on it')
      if (payload === 'bad') throw new Error('it broke')
      return 'for nobody else'
    })
    await bench.jobs.enqueueMany(work, ['good', 'bad'], { maxAttempts: 1 })
    const once = start(bench, [folder, '--once', '--verbose', '--json', '--concurrency', '1'])
    const { err } = await bench.settled(once.told)
    const events = lines(once.out())
    expect(events.map(({ event }) => event)).toEqual([
      'work',
      'started',
      'job.started',
      'job.started',
      'job.completed',
      'job.dead',
      'stopped',
    ])
    expect(events[0]).toMatchObject({ paths: [folder], queues: [{ name: 'default', concurrency: 1 }], tasks: ['work'] })
    expect(events[5]).toMatchObject({ job: { task: 'work', queue: 'default' }, attempt: 1, error: { message: 'it broke' } })
    expect(events[6]).toMatchObject({ completed: 1, retrying: 0, unsuccessful: 1 })
    for (const { at } of events) expect(new Date(String(at)).toISOString()).toBe(at)
    expect(once.out()).not.toContain('for nobody else')
    expect(lines(err).map(({ level, message }) => [level, message])).toEqual([
      ['info', 'on it'],
      ['info', 'on it'],
      ['error', 'a job failed for good'],
    ])
  })

  it('one of several processes says that it is at work, and its number', async () => {
    const bench = await open()
    let ups = 0
    const folder = folderWithHandler(() => {})
    // As the others do, it leaves starting processes to its parent.
    const working = start(bench, [folder, '--processes', '3'], { child: { number: 2, up: () => void ups++ } })
    await bench.until(() => ups === 1)
    working.signal()
    expect(await bench.settled(working.told)).toMatchObject({ code: 0 })
    expect(
      working
        .out()
        .split('\n')
        .every((line) => line === '' || line.startsWith('[2] ')),
    ).toBe(true)
  })

  it('ends with 1 when an error ends the worker', async () => {
    const bench = await open()
    const store = await bench.another()
    const folder = folderWithHandler(() => {})
    const working = start(bench, [folder], {
      store: { ...store, beat: () => Promise.reject(new TriphammerError('STORE_CLOSED', 'the store is closed')) },
    })
    expect(await bench.settled(working.told)).toMatchObject({ code: 1, err: expect.stringMatching(/code: STORE_CLOSED/) })
  })

  it('ends with 2, and touches nothing, where there is nothing to work with', async () => {
    const bench = await open()
    const folder = folderWithHandler(() => {})
    const elsewhere = mkdtempSync(join(tmpdir(), 'triphammer-work-'))
    onTestFinished(() => rmSync(elsewhere, { recursive: true }))
    writeFileSync(join(elsewhere, 'a.js'), "export const task = { name: 'a', with() {}, policy: {} }")
    for (const [argv, code] of [
      [[], 'NO_HANDLER'],
      [[elsewhere], 'NO_HANDLER'],
      [[join(folder, 'none')], 'LOAD_FAILED'],
      [[folder, '--lease', 'x'], 'INVALID_DURATION'],
      [[folder, '--queue', ''], 'INVALID_NAME'],
      [[folder, '--processes', '2', '--once'], 'INVALID_OPTION'],
    ] as const) {
      expect(await start(bench, argv).told).toMatchObject({ code: 2, err: expect.stringContaining(`code: ${code}`) })
    }
    expect(await bench.store.admin.queues()).toEqual([])
  })
})
