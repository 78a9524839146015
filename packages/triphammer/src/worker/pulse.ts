import { hostname } from 'node:os'
import { sleep } from '../core/clock.ts'
import type { SessionId, SessionInfo } from '../store/types.ts'
import { createBell } from './bell.ts'
import { every } from './every.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { WorkerConfig } from './options.ts'
import type { Caller } from './outage.ts'
import type { QueueLoop } from './queue-loop.ts'

/** A worker's pulse: tells the store that it is there, and learns of cancels, pauses and idle fellows. */
export interface Pulse {
  beat(): Promise<void>
  /** Beats once a pulse, sooner when hurried, until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
  /** Something may have changed: the next beat comes early. */
  hurry(): void
  /** The last beat. */
  leave(): Promise<void>
}

/** However much happens, two beats are at least this far apart, or a pulse if that is shorter. */
const EARLIEST_MS = 200

/** Makes a {@link Pulse}. */
export function createPulse(options: {
  readonly config: WorkerConfig
  readonly session: SessionId
  readonly startedAt: number
  readonly loops: readonly QueueLoop[]
  readonly keeper: LeaseKeeper
  readonly caller: Caller
}): Pulse {
  const { config, session, startedAt, loops, keeper, caller } = options
  const { clock } = config
  const bell = createBell(clock)
  const earliestMs = Math.min(EARLIEST_MS, config.pulseMs)
  const concurrency = loops.reduce((sum, loop) => sum + loop.config.concurrency, 0)
  const same = {
    id: session,
    host: hostname(),
    pid: process.pid,
    startedAt,
    queues: loops.map((loop) => loop.config.name),
    tasks: [...config.handlers.keys()],
    concurrency,
  }
  let changes: number | undefined

  const info = (): SessionInfo => {
    const counts = loops.map((loop) => loop.counts())
    return {
      ...same,
      running: counts.reduce((sum, { running }) => sum + running, 0),
      held: counts.reduce((sum, { held }) => sum + held, 0),
      idle: loops.filter((loop) => loop.hungry()).map((loop) => loop.config.name),
    }
  }
  const beat = async (): Promise<void> => {
    await keeper.renewAfterJump()
    await keeper.writeProgress()
    const answer = await config.store.beat(info())
    for (const loop of loops) {
      const { name } = loop.config
      loop.onBeat({ paused: answer.paused.includes(name), wanted: answer.wanted.includes(name) })
    }
    if (answer.changes === changes) return
    await keeper.look()
    changes = answer.changes
  }
  return {
    beat,
    hurry: () => bell.ring(),
    async run(signal) {
      signal.addEventListener('abort', () => bell.ring(), { once: true })
      await every(
        { clock, caller, signal, wait: () => bell.wait(config.pulseMs - earliestMs).then(() => sleep(clock, earliestMs, signal)) },
        beat,
      )
    },
    async leave() {
      await config.store.beat({ ...info(), leaving: true })
    },
  }
}
