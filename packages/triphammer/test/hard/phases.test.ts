import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { clientOn } from '../../src/client/client.ts'
import { sleep, systemClock } from '../../src/core/clock.ts'
import { afterwards, freshFile, storeOn, userDb } from '../sqlite/place.ts'

const WORKER = fileURLToPath(new URL('phases.mjs', import.meta.url))

interface Left {
  readonly states: Readonly<Record<string, number>>
  readonly ran: number
  readonly workers: number
  readonly resources: readonly string[]
}

interface Stopped {
  readonly left: Left
  /** From the signal to the end of the process. */
  readonly tookMs: number
}

// Runs a worker that is stopped in this phase, and waits until its process has ended by itself.
async function stopIn(
  phase: string,
  signals: number,
  file: string,
  meanwhile?: (child: { kill(signal: 'SIGUSR2'): unknown }) => Promise<void>,
): Promise<Stopped> {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', WORKER, file, phase, String(signals)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  afterwards(() => child.kill('SIGKILL'))
  let toldAt = Number.NaN
  let left: Left | undefined
  let other: Promise<void> | undefined
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as { readonly told?: string; readonly lock?: true; readonly states?: object }
    if (line.told !== undefined) toldAt = performance.now()
    if (line.lock) other ??= meanwhile?.(child)
    if (line.states) left = line as Left
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  await other
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  return { left: left!, tookMs: performance.now() - toldAt }
}

// The file as its last user has left it: whole, without a log to be taken in, and without a run in hand.
async function expectInOrder(file: string, { left }: Stopped): Promise<void> {
  expect(left).toMatchObject({ workers: 0, resources: [] })
  expect(left.states['running'] ?? 0).toBe(0)
  expect(existsSync(`${file}-wal`)).toBe(false)
  expect(userDb(file).prepare('pragma integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  const jobs = clientOn({ store: storeOn(file), logger: false })
  for (const { state, attempt, startedAt } of (await jobs.list()).jobs) {
    expect([state, attempt, startedAt === undefined]).toEqual(state === 'completed' ? ['completed', 1, false] : ['pending', 0, true])
  }
}

interface Phase {
  readonly phase: string
  /** How long the process may take to end: its own waits, and a busy machine. */
  readonly withinMs: number
  readonly completed?: number
  /** Also with so many signals. */
  readonly hurried?: number
}

const PHASES: readonly Phase[] = [
  { phase: 'at once', withinMs: 20_000, completed: 0 },
  { phase: 'starting', withinMs: 20_000, completed: 0, hurried: 2 },
  { phase: 'idle', withinMs: 20_000, completed: 0 },
  { phase: 'claiming', withinMs: 20_000, completed: 0, hurried: 3 },
  { phase: 'held', withinMs: 20_000, hurried: 2 },
  { phase: 'running', withinMs: 20_000, hurried: 3 },
  { phase: 'committing', withinMs: 20_000, hurried: 3 },
  { phase: 'finishing', withinMs: 20_000, hurried: 2 },
  { phase: 'extending', withinMs: 20_000 },
  { phase: 'maintenance', withinMs: 20_000, completed: 0 },
  { phase: 'reclaiming', withinMs: 20_000, completed: 0 },
  { phase: 'deaf', withinMs: 20_000, completed: 0 },
  { phase: 'obedient', withinMs: 20_000, completed: 0, hurried: 2 },
  { phase: 'outage', withinMs: 20_000, hurried: 3 },
]

it.each(PHASES.flatMap((one) => (one.hurried ? [1, one.hurried] : [1]).map((signals) => ({ ...one, signals }))))(
  '[I6] [I8] told to stop %o: the process ends by itself, and no run and no log is left',
  { timeout: 60_000 },
  async ({ phase, signals, withinMs, completed }) => {
    const file = freshFile()
    const stopped = await stopIn(phase, signals, file)
    await expectInOrder(file, stopped)
    const { left, tookMs } = stopped
    expect(tookMs).toBeLessThan(withinMs)
    if (completed !== undefined) expect(left.states['completed'] ?? 0).toBe(completed)
    // What has run with one signal has had its grace; nothing that ran to its end runs again.
    else if (signals === 1) expect(left.states['completed']).toBe(left.ran)
    expect(left.states['completed'] ?? 0).toBeLessThanOrEqual(left.ran)
  },
)

it('[I6] [I8] told to stop in runOnce, twice: the process ends by itself', { timeout: 60_000 }, async () => {
  const file = freshFile()
  await expectInOrder(file, await stopIn('once', 0, file))
})

it('[I8] told to stop while another process holds the lock: it waits, and what ran is written once', { timeout: 60_000 }, async () => {
  const file = freshFile()
  const stopped = await stopIn('locked', 1, file, async (child) => {
    const holder = userDb(file)
    holder.exec('pragma busy_timeout = 20000')
    holder.exec('begin immediate')
    child.kill('SIGUSR2')
    await sleep(systemClock, 2_000)
    holder.exec('rollback')
    holder.close()
  })
  await expectInOrder(file, stopped)
  expect(stopped.left.states['completed']).toBe(stopped.left.ran)
  expect(stopped.left.ran).toBeGreaterThan(0)
})
