import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** How a child ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A running copy of the demo. */
export interface DemoProcess {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly exit: Promise<Exit>
  /** Resolves when the output so far matches; rejects when the child ends without. */
  saw(pattern: RegExp): Promise<void>
}

/** Options of {@link startDemo}. */
export interface StartOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Run as this user and group. */
  readonly uid?: number
}

const MAIN = fileURLToPath(new URL('../../dist/demo/main.js', import.meta.url))

/** Starts the built demo in a folder. */
export function startDemo(cwd: string, { args = [], env = {}, uid }: StartOptions = {}): DemoProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  let stdout = ''
  let stderr = ''
  const watchers = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    for (const watch of watchers) watch()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exit = new Promise<Exit>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return {
    child,
    exit,
    async saw(pattern) {
      const seen = new Promise<void>((resolve) => {
        const watch = (): void => {
          if (!pattern.test(stdout)) return
          watchers.delete(watch)
          resolve()
        }
        watchers.add(watch)
        watch()
      })
      const gone = exit.then(({ code }) => {
        if (!pattern.test(stdout)) throw new Error(`the demo ended (${code}) without ${pattern}:\n${stdout}${stderr}`)
      })
      await Promise.race([seen, gone])
    },
  }
}

/** Runs the demo to its end. */
export function runDemo(cwd: string, options: StartOptions = {}): Promise<Exit> {
  return startDemo(cwd, options).exit
}
