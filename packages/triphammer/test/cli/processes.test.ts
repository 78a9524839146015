import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { childEnvironment, meansStop, takeChildNumber, tellUp } from '../../src/cli/child.ts'
import { createLines } from '../../src/cli/lines.ts'
import { runProcesses } from '../../src/cli/processes.ts'
import type { Clock } from '../../src/core/clock.ts'
import { type ManualClock, manualClock } from '../../src/core/manual-clock.ts'

/** A process that does what the test says. */
interface Child extends EventEmitter {
  connected: boolean
  /** What it was told: a message of the parent's, or a signal. */
  readonly told: string[]
  up(): void
  exit(code: number | null, signal?: string): void
}

function createChild(): Child {
  const told: string[] = []
  const child = Object.assign(new EventEmitter(), {
    connected: true,
    told,
    send: (message: unknown) => told.push(meansStop(message) ? 'stop' : String(message)),
    kill: (signal: string) => told.push(signal),
    up: () =>
      tellUp({ connected: true, send: ((message: unknown) => child.emit('message', message)) as NonNullable<NodeJS.Process['send']> }),
    exit: (code: number | null, signal: string | null = null) => {
      child.connected = false
      child.emit('exit', code, signal)
    },
  })
  return child
}

interface Supervised {
  readonly clock: ManualClock
  /** Every process that was started, by its number. */
  readonly started: readonly { readonly number: number; readonly child: Child }[]
  readonly warnings: readonly Record<string, unknown>[]
  readonly code: Promise<number>
  signal(): void
  /** Timers that have neither fired nor been cancelled. */
  timers(): number
  /** The last process of this number. */
  child(number: number): Child
}

function supervised(count: number, fail: (nth: number) => void = () => {}): Supervised {
  const clock = manualClock()
  const timers = new Set<object>()
  const counted: Clock = {
    ...clock,
    timer: (ms, fn) => {
      const timer = clock.timer(ms, () => {
        timers.delete(timer)
        fn()
      })
      timers.add(timer)
      return {
        cancel: () => {
          timers.delete(timer)
          timer.cancel()
        },
      }
    },
  }
  const started: { number: number; child: Child }[] = []
  const warnings: Record<string, unknown>[] = []
  let heard: () => void = () => {}
  const fork = (number: number): ChildProcess => {
    const child = createChild()
    started.push({ number, child })
    fail(started.length)
    return child as unknown as ChildProcess
  }
  const err = (text: string): void => void warnings.push(JSON.parse(text) as Record<string, unknown>)
  const code = runProcesses({
    count,
    fork,
    clock: counted,
    onSignal: (listener) => {
      heard = listener
      return () => {
        heard = () => {}
      }
    },
    killAfterMs: 50_000,
    lines: createLines({ world: { out: () => {}, err, clock }, json: true, verbose: false }),
  })
  return {
    clock,
    started,
    warnings,
    code,
    signal: () => heard(),
    timers: () => timers.size,
    child: (number) => started.findLast((one) => one.number === number)!.child,
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
const numbers = ({ started }: Supervised): number[] => started.map(({ number }) => number)

async function allUp(count: number): Promise<Supervised> {
  const all = supervised(count)
  all.child(1).up()
  await nextTurn()
  for (let number = 2; number <= count; number++) all.child(number).up()
  return all
}

async function ended(all: Supervised): Promise<number> {
  for (const { child } of all.started) if (child.connected) child.exit(0)
  return all.code
}

describe('processes', () => {
  it('are started once the first is at work', async () => {
    const all = supervised(3)
    await nextTurn()
    expect(numbers(all)).toEqual([1])
    all.child(1).emit('message', 'of somebody else')
    await nextTurn()
    expect(numbers(all)).toEqual([1])
    all.child(1).up()
    await nextTurn()
    expect(numbers(all)).toEqual([1, 2, 3])
    all.signal()
    expect(await ended(all)).toBe(0)
  })

  it('one that dies is started again, after a wait that doubles with each crash up to a minute', async () => {
    const all = await allUp(2)
    const waits: unknown[] = []
    for (let crash = 0; crash < 8; crash++) {
      all.child(2).exit(null, 'SIGKILL')
      await nextTurn()
      const wait = Number(all.warnings.at(-1)?.['restartInMs'])
      waits.push(wait)
      const before = all.started.length
      await all.clock.advance(wait - 1)
      await nextTurn()
      expect(all.started).toHaveLength(before)
      await all.clock.advance(1)
      await nextTurn()
      expect(numbers(all).slice(before)).toEqual([2])
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    expect(all.warnings[0]).toMatchObject({ level: 'warn', process: 2, signal: 'SIGKILL' })
    expect(all.warnings[0]).not.toHaveProperty('code')
    all.signal()
    expect(await ended(all)).toBe(0)
  })

  it('one that was at work for a minute is started as if it had never died', async () => {
    const all = await allUp(1)
    const crashAfter = async (ms: number): Promise<unknown> => {
      await all.clock.advance(ms)
      all.child(1).exit(7)
      await nextTurn()
      const { restartInMs, code } = all.warnings.at(-1)!
      expect(code).toBe(7)
      await all.clock.advance(Number(restartInMs))
      await nextTurn()
      return restartInMs
    }
    expect(await crashAfter(59_999)).toBe(1_000)
    // Alive for long and never at work is not healthy.
    expect(await crashAfter(90_000)).toBe(2_000)
    all.child(1).up()
    expect(await crashAfter(59_999)).toBe(4_000)
    all.child(1).up()
    expect(await crashAfter(60_000)).toBe(1_000)
    all.signal()
    expect(await ended(all)).toBe(0)
  })

  it('that cannot be made are tried again', async () => {
    const all = supervised(1, (nth) => {
      if (nth === 1) throw new Error('no more processes')
    })
    await nextTurn()
    expect(all.warnings[0]).toMatchObject({ error: { message: 'no more processes' }, restartInMs: 1_000 })
    await all.clock.advance(1_000)
    await nextTurn()
    all.child(1).emit('error', new Error('not found'))
    await nextTurn()
    expect(all.warnings[1]).toMatchObject({ error: { message: 'not found' }, restartInMs: 2_000 })
    all.signal()
    expect(await ended(all)).toBe(0)
  })

  it('all end with 2 when one says that no waiting would mend it', async () => {
    const all = await allUp(2)
    all.child(2).exit(2)
    await nextTurn()
    expect(all.child(1).told).toEqual(['stop'])
    expect(await ended(all)).toBe(2)
    const alone = supervised(3)
    alone.child(1).exit(2)
    expect(await alone.code).toBe(2)
    expect(numbers(alone)).toEqual([1])
  })
})

describe('an end', () => {
  it('is told to all, once for each time it is wanted; the third time they are killed', async () => {
    const all = await allUp(2)
    all.signal()
    all.signal()
    expect(all.child(1).told).toEqual(['stop', 'stop'])
    expect(all.warnings).toEqual([])
    all.child(1).exit(0)
    await nextTurn()
    all.signal()
    expect(all.child(1).told).toEqual(['stop', 'stop'])
    expect(all.child(2).told).toEqual(['stop', 'stop', 'stop', 'SIGKILL'])
    all.child(2).exit(null, 'SIGKILL')
    expect(await all.code).toBe(1)
    expect(all.warnings).toMatchObject([{ process: 2, message: expect.stringMatching(/killed.*three times/) }])
  })

  it('is forced on those that have not ended in time', async () => {
    const all = await allUp(2)
    all.signal()
    all.child(1).exit(0)
    await all.clock.advance(49_999)
    expect(all.child(2).told).toEqual(['stop'])
    await all.clock.advance(1)
    expect(all.child(2).told).toEqual(['stop', 'SIGKILL'])
    all.child(2).exit(null, 'SIGKILL')
    expect(await all.code).toBe(1)
  })

  it('starts nothing again: neither what dies meanwhile, nor what waits for its turn', async () => {
    const all = await allUp(3)
    all.child(2).exit(1)
    await nextTurn()
    all.signal()
    all.child(3).exit(1)
    all.child(1).exit(0)
    expect(await all.code).toBe(1)
    expect(numbers(all)).toEqual([1, 2, 3])
    await all.clock.advance('1h')
    expect(numbers(all)).toEqual([1, 2, 3])
  })

  it('before the first is at work starts no others, and one that could not hear yet has ended in order', async () => {
    const all = supervised(3)
    all.signal()
    all.child(1).exit(null, 'SIGINT')
    expect(await all.code).toBe(0)
    expect(numbers(all)).toEqual([1])
  })

  it('leaves no timer behind, neither of its own nor of a wait', async () => {
    const all = await allUp(2)
    all.child(1).exit(1)
    await nextTurn()
    expect(all.timers()).toBe(1)
    all.signal()
    expect(await ended(all)).toBe(0)
    expect(all.timers()).toBe(0)
  })
})

describe('a process knows its number', () => {
  it('from its parent, and hands it on to nobody', () => {
    const env: NodeJS.ProcessEnv = { ...childEnvironment(3), HOME: '/' }
    expect(takeChildNumber({ env, send: () => true })).toBe(3)
    expect(env).toEqual({ HOME: '/' })
    expect(takeChildNumber({ env, send: () => true })).toBe(undefined)
  })

  it('only if it has a parent to talk to', () => {
    const env: NodeJS.ProcessEnv = { ...childEnvironment(3) }
    expect(takeChildNumber({ env })).toBe(undefined)
    expect(env).toEqual(childEnvironment(3))
  })
})
