import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Client, clientOn } from '../../src/client/client.ts'
import { sleep, systemClock } from '../../src/core/clock.ts'
import { defineTask } from '../../src/core/task.ts'
import { sqlite } from '../../src/sqlite.ts'
import { type Line, type Started, startProcess } from './process.ts'
import { createProject, type Project } from './project.ts'

// Prints a line, then waits until the file `go` is there, on the first attempt; a second one returns at once.
const WAITS = `
  import { existsSync } from 'node:fs'
  import { sleep } from '../lib/sleep'
  export default async ({ payload, attempt }: { payload: string; attempt: number }) => {
    console.log(JSON.stringify({ event: 'at it', pid: process.pid, payload }))
    while (attempt === 1 && !existsSync('go')) await sleep(10)
  }`
const SLEEP = 'export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))'
// So that no process holds a job that another could do.
const ONE_AT_A_TIME = '{ "worker": { "queues": { "default": { "concurrency": 1, "prefetch": 1 } } } }'
const waits = defineTask('waits')

interface Place {
  readonly project: Project
  readonly jobs: Client
  start(...argv: string[]): Started
  /** Lets the handlers end. */
  go(): void
}

async function createPlace(files: Readonly<Record<string, string>> = { 'tasks/waits.ts': WAITS, 'lib/sleep.ts': SLEEP }): Promise<Place> {
  const project = createProject({ 'triphammer.config.json': ONE_AT_A_TIME, ...files })
  const jobs = clientOn({ store: sqlite(project.path('.triphammer/jobs.db')), logger: false })
  await jobs.migrate()
  onTestFinished(() => jobs.close())
  return {
    project,
    jobs,
    start: (...argv) => startProcess(project.folder, ['work', 'tasks', '--json', '--verbose', '--poll', '100ms', ...argv]),
    go: () => writeFileSync(project.path('go'), ''),
  }
}

const is =
  (event: string) =>
  (line: Line): boolean =>
    line.event === event
const ended = (line: Line): boolean => line.message === 'a process ended; it is started again'
const states = async ({ jobs }: Place): Promise<unknown> => jobs.countBy('state')
const restarts = ({ lines }: Started): unknown[] => lines.filter(ended).map(({ restartInMs }) => restartInMs)

// Each starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

describe('work, in one process', () => {
  it('runs TypeScript of nested folders, and ends although its modules hold timers', async () => {
    const place = await createPlace({
      'app/triphammer.config.ts':
        "enum Where { tasks = '../tasks' }\nexport default { tasks: Where.tasks, store: '../.triphammer/jobs.db' }",
      'tasks/mail/send.ts': "import { Kind } from '../../lib/kinds'\nexport default ({ payload }) => [payload, Kind.letter]",
      'tasks/report.js': 'setInterval(() => {}, 1_000)\nexport default () => 1',
      'lib/kinds.ts': "export enum Kind { letter = 'letter' }",
      'package.json': '{ "type": "module" }',
    })
    const { id } = await place.jobs.enqueue(defineTask('mail/send'), 'x')
    await place.jobs.enqueue(defineTask('report'), {})
    const { gone, lines } = startProcess(place.project.folder, ['work', '--once', '--json', '--config', 'app/triphammer.config.ts'])
    expect(await gone).toEqual({ code: 0, signal: null })
    expect(lines.map(({ event }) => event)).toEqual(['work', 'started', 'stopped'])
    expect(await place.jobs.get(id)).toMatchObject({ state: 'completed', result: ['x', 'letter'] })
    expect(await states(place)).toEqual({ completed: 2 })
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('%s: what runs is ended, and the exit code is 0', async (signal) => {
    const place = await createPlace()
    await place.jobs.enqueueMany(waits, ['a', 'b'])
    const working = place.start()
    await working.some(1, is('at it'))
    working.child.kill(signal)
    expect(await working.some(1, is('stopping'))).toMatchObject([{ hurry: false }])
    place.go()
    expect(await working.gone).toEqual({ code: 0, signal: null })
    expect(await states(place)).toEqual({ completed: 1, pending: 1 })
  })

  it('a reader that has gone ends it in order', async () => {
    const place = await createPlace()
    place.go()
    const working = place.start()
    await working.some(1, is('started'))
    working.child.stdout!.destroy()
    await place.jobs.enqueue(waits, 'tells something, which nobody hears')
    expect(await working.gone).toEqual({ code: 0, signal: null })
    expect(await states(place)).toEqual({ completed: 1 })
  })

  it.runIf(existsSync('/dev/full'))('output that cannot be written ends it in order as well, with 1', async () => {
    const place = await createPlace()
    place.go()
    await place.jobs.enqueue(waits, 'x')
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const working = startProcess(place.project.folder, ['work', 'tasks'], full)
    expect(await working.gone).toEqual({ code: 1, signal: null })
    expect(await place.jobs.workers()).toEqual([])
  })

  it('a file that cannot be loaded ends it with 2', async () => {
    const place = await createPlace({ 'tasks/a.ts': "throw new Error('boom')" })
    const { gone, lines } = place.start()
    expect(await gone).toEqual({ code: 2, signal: null })
    expect(lines).toMatchObject([{ error: { code: 'LOAD_FAILED', message: expect.stringMatching(/tasks.a[.]ts cannot be loaded: boom/) } }])
  })
})

describe('work --processes', () => {
  it('one that is killed is started again, all jobs are done, and SIGTERM ends all', async () => {
    const place = await createPlace()
    await place.jobs.enqueueMany(waits, ['a', 'b', 'c', 'd'])
    const working = place.start('--processes', '3', '--lease', '1s')
    const started = await working.some(3, is('started'))
    expect(started.map((line) => line.process).toSorted()).toEqual([1, 2, 3])
    const [busy] = await working.some(3, is('at it'))
    const victim = started.find(({ pid }) => pid === busy?.pid)!
    process.kill(victim.pid!, 'SIGKILL')
    expect(await working.some(1, ended)).toMatchObject([{ process: victim.process, signal: 'SIGKILL', restartInMs: 1_000 }])
    const again = (await working.some(4, is('started'))).at(-1)!
    expect(again.process).toBe(victim.process)
    expect(again.pid).not.toBe(victim.pid)
    place.go()
    await working.some(4, is('job.completed'))
    working.child.kill('SIGTERM')
    expect(await working.gone).toEqual({ code: 0, signal: null })
    expect(working.lines.filter(is('stopped'))).toHaveLength(3)
    expect(await states(place)).toEqual({ completed: 4 })
    expect(await place.jobs.workers()).toHaveLength(1) // the one that was killed, until it is forgotten
  })

  it('Ctrl-C reaches each process by two ways and is one wish all the same; the next one hurries', async () => {
    const place = await createPlace()
    await place.jobs.enqueueMany(waits, ['a', 'b'])
    const working = place.start('--processes', '2')
    await working.some(2, is('at it'))
    working.signalAll('SIGINT')
    expect((await working.some(2, is('stopping'))).map(({ hurry }) => hurry)).toEqual([false, false])
    // Longer than two signals count as one. Whatever the first has set off has been heard by then.
    await sleep(systemClock, 1_000)
    expect(working.lines.filter(is('stopping'))).toHaveLength(2)
    expect(await states(place)).toEqual({ running: 2 })
    working.signalAll('SIGINT')
    expect((await working.some(4, is('stopping'))).map(({ hurry }) => hurry)).toEqual([false, false, true, true])
    expect(await working.gone).toEqual({ code: 0, signal: null })
    expect(await states(place)).toEqual({ pending: 2 })
  })

  it('a process that was told by itself is not hurried when its parent tells it as well, however much later', async () => {
    const place = await createPlace()
    await place.jobs.enqueueMany(waits, ['a', 'b'])
    const working = place.start('--processes', '2')
    const [first] = await working.some(2, is('at it'))
    process.kill(first!.pid!, 'SIGTERM')
    await working.some(1, is('stopping'))
    await sleep(systemClock, 1_000) // no echo any more
    working.child.kill('SIGTERM')
    await working.some(2, is('stopping'))
    await sleep(systemClock, 500) // what was said to both at once has arrived at the other as well
    place.go()
    expect(await working.gone).toEqual({ code: 0, signal: null })
    expect(working.lines.filter(is('stopping')).map(({ hurry }) => hurry)).toEqual([false, false])
    expect(await states(place)).toEqual({ completed: 2 })
  })

  it('without their parent they end by themselves, in order', async () => {
    const place = await createPlace()
    await place.jobs.enqueueMany(waits, ['a', 'b'])
    const working = place.start('--processes', '2')
    await working.some(2, is('at it'))
    working.child.kill('SIGKILL')
    await working.some(2, is('stopping'))
    place.go()
    expect(await working.gone).toEqual({ code: null, signal: 'SIGKILL' })
    expect(working.lines.filter(is('stopped'))).toHaveLength(2)
    expect(await states(place)).toEqual({ completed: 2 })
    expect(await place.jobs.workers()).toEqual([])
  })

  it('one that always crashes is started ever more seldom, and an end does not wait for that', async () => {
    const place = await createPlace({ 'tasks/a.ts': 'if (process.connected) process.exit(3)\nexport default () => {}' })
    const working = place.start('--processes', '2')
    await working.some(3, ended)
    expect(restarts(working)).toEqual([1_000, 2_000, 4_000])
    expect(working.lines.find(ended)).toMatchObject({ process: 1, code: 3 })
    working.child.kill('SIGTERM')
    expect(await working.gone).toEqual({ code: 0, signal: null })
    expect(restarts(working)).toEqual([1_000, 2_000, 4_000])
  })

  it('what no waiting would mend is said once, and ends all with 2', async () => {
    const place = await createPlace({ 'tasks/a.ts': 'export const a = 1' })
    const working = place.start('--processes', '3')
    expect(await working.gone).toEqual({ code: 2, signal: null })
    expect(working.lines.map(({ event, error }) => event ?? (error as { code: string }).code)).toEqual(['work', 'NO_HANDLER'])
  })

  it('the parent opens no store', async () => {
    const project = createProject({ 'tasks/a.ts': 'if (process.connected) process.exit(2)\nexport default () => {}' })
    expect(await startProcess(project.folder, ['work', 'tasks', '--processes', '2']).gone).toEqual({ code: 2, signal: null })
    expect(existsSync(join(project.folder, '.triphammer'))).toBe(false)
  })
})
