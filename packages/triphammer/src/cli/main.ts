#!/usr/bin/env node
import { fork } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../core/clock.ts'
import { childEnvironment, meansStop, takeChildNumber, tellUp } from './child.ts'
import { runCommandLine } from './command-line.ts'
import { createEndings } from './endings.ts'
import { EXIT } from './errors.ts'

const argv = process.argv.slice(2)
const number = takeChildNumber(process)
const endings = createEndings({ clock: systemClock, hear: number === undefined ? hearSignals : () => () => {}, end: () => process.exit() })

// One of several processes is told by its parent, from its first moment on; that the parent has died tells it as well.
if (number !== undefined) {
  hearSignals()
  process.on('message', (message) => meansStop(message) && endings.told('parent'))
  process.once('disconnect', () => endings.told('parent'))
}

let isReaderGone = false
for (const stream of [process.stdout, process.stderr]) {
  // A reader that has gone, such as `head`, is no error of ours, a full disk is one; what is under way is brought to an end first.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.exitCode = EXIT.failed
    if (isReaderGone) return
    isReaderGone = true
    endings.told('reader')
  })
}

const code = await runCommandLine(argv, {
  env: process.env,
  cwd: process.cwd(),
  out: (chunk) => void process.stdout.write(chunk),
  err: (chunk) => void process.stderr.write(chunk),
  readInput: () => text(process.stdin),
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  isInteractive: process.stderr.isTTY,
  clock: systemClock,
  onSignal: endings.onSignal,
  fork: (child) =>
    fork(fileURLToPath(import.meta.url), argv, {
      env: { ...process.env, ...childEnvironment(child) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    }),
  ...(number === undefined ? {} : { child: { number, up: () => tellUp(process) } }),
})
// A configuration and the modules of tasks may hold connections and timers, which would keep the process. Before it ends, what
// was written goes out, and a stream that could not write it has said so.
process.stdout.write('', () => process.stderr.write('', () => setImmediate(() => process.exit(process.exitCode ?? code))))

function hearSignals(): () => void {
  const hear = (): void => endings.told('signal')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, hear)
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, hear)
  }
}
