import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** A line of a command line that was started with `--json`. */
export interface Line extends Readonly<Record<string, unknown>> {
  readonly event?: string
  readonly message?: string
  readonly process?: number
  readonly pid?: number
}

/** The built command line, in a process of its own and a process group of its own, as a terminal starts it. */
export interface Started {
  readonly child: ChildProcess
  /** What it and its children have written, in the order of arrival. */
  readonly lines: readonly Line[]
  /** Resolves with the first `count` lines for which `wanted` holds, whether they have come or will. */
  some(count: number, wanted: (line: Line) => boolean): Promise<readonly Line[]>
  /** Resolves when it has ended, and every process that it has started as well: they hold its output open. */
  readonly gone: Promise<{ readonly code: number | null; readonly signal: string | null }>
  /** Gives all its processes a signal, as a terminal does with Ctrl-C. */
  signalAll(signal: NodeJS.Signals): void
}

/**
 * Starts {@link Started}. Whatever it leaves running is killed after the test.
 *
 * @param out a file that takes its standard output in place of the test
 */
export function startProcess(cwd: string, argv: readonly string[], out: number | 'pipe' = 'pipe'): Started {
  const child = spawn(process.execPath, [MAIN, ...argv], { cwd, stdio: ['ignore', out, 'pipe'], detached: true })
  const lines: Line[] = []
  const watchers = new Set<() => void>()
  const take = (text: string): void => {
    lines.push(parsed(text))
    for (const watcher of watchers) watcher()
  }
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', take)
  const gone = once(child, 'close').then(([code, signal]) => ({ code: code as number | null, signal: signal as string | null }))
  const signalAll = (signal: NodeJS.Signals): void => void process.kill(-child.pid!, signal)
  onTestFinished(() => {
    try {
      signalAll('SIGKILL')
    } catch {
      // Nothing is left, as it should be.
    }
  })
  return {
    child,
    lines,
    gone,
    signalAll,
    some: (count, wanted) =>
      new Promise((resolve) => {
        const watcher = (): void => {
          const found = lines.filter(wanted)
          if (found.length < count) return
          watchers.delete(watcher)
          resolve(found.slice(0, count))
        }
        watchers.add(watcher)
        watcher()
      }),
  }
}

function parsed(text: string): Line {
  try {
    return JSON.parse(text) as Line
  } catch {
    return { text }
  }
}
