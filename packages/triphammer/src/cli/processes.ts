import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type Clock, sleep, type Timer } from '../core/clock.ts'
import { createDeferred } from '../core/deferred.ts'
import { meansUp, tellStop } from './child.ts'
import { EXIT, type ExitCode } from './errors.ts'
import type { Lines } from './lines.ts'
import type { World } from './world.ts'

/** What {@link runProcesses} works with. */
export interface ProcessesOptions {
  readonly count: number
  /** Starts the process of this number, from 1. */
  readonly fork: (number: number) => ChildProcess
  readonly clock: Clock
  readonly onSignal: World['onSignal']
  /** A process that has not ended this long after it was told to is killed, in milliseconds. */
  readonly killAfterMs: number
  readonly lines: Lines
}

/** How a process ended. */
interface End {
  readonly code?: number
  readonly signal?: string
  /** Why there was no process to begin with. */
  readonly error?: unknown
  /** How long it had been at work. */
  readonly upMs: number
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000
/** After this long at work a process counts as healthy, and its next crash as its first. */
const HEALTHY_MS = 60_000

/**
 * Keeps some processes going until an end is wanted: one that dies is started again, after a wait that doubles with each crash.
 * One that says that no waiting would mend it ends them all.
 *
 * The others are started once the first is at work, so that what is wrong with all of them is said once.
 *
 * @returns the exit code: 2 as that one's, 1 if not all of them stopped in order
 */
export async function runProcesses(options: ProcessesOptions): Promise<ExitCode> {
  const { count, clock, onSignal, lines } = options
  const stopping = new AbortController()
  const live = new Map<number, ChildProcess>()
  let code: ExitCode = EXIT.ok
  let wishes = 0

  const kill = (why: string): void => {
    for (const [number, child] of live) {
      lines.log.warn({ process: number, pid: child.pid }, `a process is killed: ${why}`)
      child.kill('SIGKILL')
    }
  }
  const stop = (): void => {
    wishes++
    stopping.abort()
    for (const child of live.values()) tellStop(child)
    if (wishes === 3) kill('it was told to stop three times')
  }
  const keep = async (number: number, up: () => void): Promise<void> => {
    for (let crashes = 0; !stopping.signal.aborted; ) {
      const { upMs, ...how } = await runOne(options, number, live, up)
      if (how.code === EXIT.usage) {
        code = EXIT.usage
        stop()
      }
      if (stopping.signal.aborted) {
        if (code === EXIT.ok && !wasInOrder(how)) code = EXIT.failed
        return
      }
      crashes = upMs >= HEALTHY_MS ? 1 : crashes + 1
      const restartInMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(crashes - 1, 10), LONGEST_WAIT_MS)
      lines.log.warn({ process: number, ...how, restartInMs }, 'a process ended; it is started again')
      await sleep(clock, restartInMs, stopping.signal)
    }
  }

  const unhear = onSignal(stop)
  const firstIsUp = createDeferred()
  const all = [keep(1, firstIsUp.resolve).finally(firstIsUp.resolve)]
  const killing = killAtLast(options, stopping.signal, () => kill('it has not ended in time'))
  await firstIsUp.promise
  for (let number = 2; number <= count; number++) all.push(keep(number, () => {}))
  await Promise.all(all)
  killing.cancel()
  unhear()
  return code
}

async function runOne({ fork, clock }: ProcessesOptions, number: number, live: Map<number, ChildProcess>, up: () => void): Promise<End> {
  let upAt: number | undefined
  try {
    const child = fork(number)
    live.set(number, child)
    child.on('message', (message) => {
      if (!meansUp(message)) return
      upAt = clock.monotonic()
      up()
    })
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    const upMs = upAt === undefined ? 0 : clock.monotonic() - upAt
    return { ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }), upMs }
  } catch (error) {
    return { error, upMs: 0 } // no process could be made
  } finally {
    live.delete(number)
  }
}

// Told before it could hear, a process is ended by the signal itself: it had nothing in hand.
function wasInOrder({ code, signal }: Omit<End, 'upMs'>): boolean {
  return code === EXIT.ok || signal === 'SIGINT' || signal === 'SIGTERM'
}

// A process that does not hear, since its code never lets go, must not keep the others from being gone.
function killAtLast({ clock, killAfterMs }: ProcessesOptions, signal: AbortSignal, kill: () => void): Timer {
  let timer: Timer | undefined
  signal.addEventListener('abort', () => {
    timer = clock.timer(killAfterMs, kill)
  })
  return { cancel: () => timer?.cancel() }
}
