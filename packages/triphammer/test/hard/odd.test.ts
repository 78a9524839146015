import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { type Client, clientOn } from '../../src/client/client.ts'
import { defineTask } from '../../src/core/task.ts'
import { afterwards, freshFile, storeOn } from '../sqlite/place.ts'

const WORKER = fileURLToPath(new URL('odd.mjs', import.meta.url))
const work = defineTask('work')

interface Odd {
  readonly pid: number
  /** The ids of the jobs of which it has said this. */
  ids(what: 'started' | 'lost' | 'completed'): readonly unknown[]
  readonly lines: readonly { readonly what: string; readonly id?: string; readonly message?: string }[]
  readonly errors: () => string
  /** Lets its handler go on. */
  goOn(): void
  /** Asks it to end. */
  stop(): void
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

async function place(): Promise<{ readonly jobs: Client; start(mode: string): Odd }> {
  const file = freshFile()
  const jobs = clientOn({ store: storeOn(file), logger: false })
  await jobs.migrate()
  return { jobs, start: (mode) => startWorker(file, mode) }
}

function startWorker(file: string, mode: string): Odd {
  const goOn = `${file}-${mode}`
  const child = spawn(process.execPath, [WORKER, file, mode, goOn], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Awaited<Odd['exit']>)
  afterwards(() => {
    child.kill('SIGKILL')
    return exit
  })
  const lines: Odd['lines'][number][] = []
  let errors = ''
  createInterface({ input: child.stdout }).on('line', (line) => void lines.push(JSON.parse(line)))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  return {
    pid: child.pid!,
    lines,
    ids: (what) => lines.filter((line) => line.what === what).map(({ id }) => id),
    errors: () => errors,
    goOn: () => writeFileSync(goOn, ''),
    stop: () => void child.kill('SIGTERM'),
    exit,
  }
}

async function until(condition: () => unknown): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await condition())) throw new Error(`not yet: ${String(condition)}`)
    },
    { timeout: 50_000, interval: 20 },
  )
}

const completed = (jobs: Client): Promise<number> => jobs.count({ state: 'completed' })

it('[I1] [I3] a handler that blocks its process for longer than its lease: another runs the job, the late end is lost', {
  timeout: 60_000,
}, async () => {
  const { jobs, start } = await place()
  const [odd, ...held] = (await jobs.enqueueMany(work, ['odd', 1, 2, 3])).map(({ id }) => id)
  const blocked = start('blocks')
  await until(async () => blocked.ids('started').length === 1 && (await jobs.count({ state: 'running' })) === 4)
  const other = start('works')
  await until(async () => (await completed(jobs)) === 4)
  const before = await jobs.list()
  expect(blocked.lines).toEqual([{ what: 'started', id: odd }])

  blocked.goOn()
  await until(() => blocked.ids('lost').includes(odd))
  await until(() => blocked.ids('lost').length === 4)
  expect(blocked.ids('started')).toEqual([odd])
  expect(blocked.ids('completed')).toEqual([])
  expect([...other.ids('started')].sort()).toEqual([odd, ...held].sort())
  expect(await jobs.list()).toEqual(before)
  for (const job of before.jobs) expect(job).toMatchObject({ state: 'completed', attempt: 2, result: other.pid })

  // It is as good as new.
  other.stop()
  expect(await other.exit).toEqual({ code: 0, signal: null })
  const { id } = await jobs.enqueue(work, 'plain')
  await until(() => blocked.ids('completed').includes(id))
  blocked.stop()
  expect(await blocked.exit).toEqual({ code: 0, signal: null })
})

it('[I3] a handler that blocks its process while nobody else is there: its job and those held are run once', {
  timeout: 60_000,
}, async () => {
  const { jobs, start } = await place()
  const ids = (await jobs.enqueueMany(work, ['odd', 1, 2, 3])).map(({ id }) => id)
  const blocked = start('blocks')
  await until(async () => blocked.ids('started').length === 1 && (await jobs.count({ state: 'running' })) === 4)
  const leasesEnd = Math.max(...(await jobs.list()).jobs.map(({ leaseUntil }) => leaseUntil!.getTime()))
  await until(() => Date.now() > leasesEnd + 500)
  blocked.goOn()
  await until(async () => (await completed(jobs)) === 4)
  expect(blocked.ids('started')).toEqual(ids)
  expect(blocked.ids('lost')).toEqual([])
  expect((await jobs.list()).jobs.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
  blocked.stop()
  expect(await blocked.exit).toEqual({ code: 0, signal: null })
})

it.each(['rejects', 'throws'])(
  '[I8] a handler that %s where nobody waits: Node.js ends the process, and another runs its jobs',
  { timeout: 60_000 },
  async (mode) => {
    const { jobs, start } = await place()
    const ids = (await jobs.enqueueMany(work, ['odd', 1, 2])).map(({ id }) => id)
    const doomed = start(mode)
    expect(await doomed.exit).toEqual({ code: 1, signal: null })
    expect(doomed.errors()).toContain('nobody waits for this')
    expect(doomed.ids('completed')).toEqual([])
    const heir = start('works')
    await until(async () => (await completed(jobs)) === 3)
    expect([...heir.ids('started')].sort()).toEqual([...ids].sort())
    expect(await jobs.get(ids[0]!)).toMatchObject({ attempt: 2, result: heir.pid })
    heir.stop()
    expect(await heir.exit).toEqual({ code: 0, signal: null })
  },
)

it.each(['rejects', 'throws'])(
  'a handler that %s where nobody waits, in an application that hears it: nothing happens to its jobs',
  { timeout: 60_000 },
  async (mode) => {
    const { jobs, start } = await place()
    await jobs.enqueueMany(work, ['odd', 1])
    const worker = start(`${mode}, heard`)
    await until(() => worker.lines.some(({ what }) => what === 'heard'))
    expect(worker.lines).toContainEqual({ what: 'heard', message: 'nobody waits for this' })
    worker.goOn()
    await until(async () => (await completed(jobs)) === 2)
    expect((await jobs.list()).jobs.map(({ attempt }) => attempt)).toEqual([1, 1])
    worker.stop()
    expect(await worker.exit).toEqual({ code: 0, signal: null })
  },
)
