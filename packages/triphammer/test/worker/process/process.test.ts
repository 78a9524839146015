import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'

const CHILD = fileURLToPath(new URL('child.mjs', import.meta.url))
const UNTOUCHED = { state: 'pending', attempt: 0, hasStart: false }

interface Left {
  readonly left: readonly { readonly state: string; readonly attempt: number; readonly hasStart: boolean }[]
  readonly workers: number
  readonly listeners: number
}

interface Child {
  readonly process: ChildProcess
  /** The first job has started. */
  readonly started: Promise<unknown>
  /** The process has ended by itself: what it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly lines: readonly unknown[] }>
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close()
})

function start(mode: string, store: string): Child {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-child-'))
  const file = store === 'memory' ? ':memory:' : join(folder, 'jobs.db')
  const process = spawn(globalThis.process.execPath, [CHILD, mode, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  closing.push(() => {
    process.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const lines: unknown[] = []
  const reader = createInterface({ input: process.stdout })
  reader.on('line', (line) => void lines.push(JSON.parse(line)))
  return {
    process,
    started: once(reader, 'line'),
    ended: once(process, 'close').then(([code, signal]) => ({ code, signal, lines })),
  }
}

async function leftBy({ ended }: Child): Promise<Left> {
  const { code, signal, lines } = await ended
  expect({ code, signal }).toEqual({ code: 0, signal: null })
  return lines.at(-1) as Left
}

describe.each(['memory', 'sqlite'])('a worker in a process of its own, on %s', (store) => {
  it('SIGTERM: what runs has its grace, what is held goes back, and the process ends', async () => {
    const child = start('short', store)
    await child.started
    child.process.kill('SIGTERM')
    const { left, workers, listeners } = await leftBy(child)
    expect(left).toEqual([{ state: 'completed', attempt: 1, hasStart: true }, UNTOUCHED, UNTOUCHED])
    expect({ workers, listeners }).toEqual({ workers: 0, listeners: 0 })
  })

  it.each(['deaf', 'obedient'])('a second signal cuts the grace short: the %s handler’s job goes back as well', async (mode) => {
    const child = start(mode, store)
    await child.started
    const from = performance.now()
    child.process.kill('SIGTERM')
    child.process.kill('SIGINT')
    const { left, workers, listeners } = await leftBy(child)
    expect(performance.now() - from).toBeLessThan(5_000)
    expect(left).toEqual([UNTOUCHED, UNTOUCHED, UNTOUCHED])
    expect({ workers, listeners }).toEqual({ workers: 0, listeners: 0 })
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('%s ends an idle worker at once', async (signal) => {
    const child = start('idle', store)
    await child.started
    const from = performance.now()
    child.process.kill(signal)
    expect((await leftBy(child)).left).toEqual([])
    expect(performance.now() - from).toBeLessThan(2_000)
  })

  it.each(['once', 'cycle'])('leaves nothing that would keep the process alive (%s)', async (mode) => {
    const child = start(mode, store)
    const { left, workers, listeners } = await leftBy(child)
    expect(left.filter(({ state }) => state === 'completed')).toHaveLength(mode === 'once' ? 20 : 0)
    expect({ workers, listeners }).toEqual({ workers: 0, listeners: 0 })
  })
})
