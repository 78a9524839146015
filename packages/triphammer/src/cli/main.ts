#!/usr/bin/env node
import { text } from 'node:stream/consumers'
import { systemClock } from '../core/clock.ts'
import { runCommandLine } from './command-line.ts'

const ending = new AbortController()

// A reader that has gone, such as `head`, is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  out: (chunk) => void process.stdout.write(chunk),
  err: (chunk) => void process.stderr.write(chunk),
  readInput: () => text(process.stdin),
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  isInteractive: process.stderr.isTTY,
  clock: systemClock,
  signal: ending.signal,
})
