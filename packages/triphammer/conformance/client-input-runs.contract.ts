import { expect, it } from 'vitest'
import type { Client } from '../src/client/client.ts'
import type { ClaimedRun } from '../src/client/job.ts'
import type { ErrorCode } from '../src/core/errors.ts'
import { cancelled, completed } from '../src/core/outcome.ts'
import { forEachClient, refused, sendEmail } from './client.ts'

type Case = readonly [what: string, call: (jobs: Client, run: ClaimedRun) => unknown, code: ErrorCode, words: RegExp]

const outcome = (what: string, given: unknown, code: ErrorCode, words: RegExp): Case => [
  `finish: ${what}`,
  (jobs, run) => jobs.finish(run, given as never),
  code,
  words,
]

const CASES: readonly Case[] = [
  outcome('nothing', undefined, 'INVALID_OPTION', /undefined is not an outcome; give completed\(\), retry\(\)/),
  outcome('text', 'completed', 'INVALID_OPTION', /"completed" is not an outcome/),
  outcome('a function that was not called', completed, 'INVALID_OPTION', /is not an outcome/),
  outcome('an unknown kind', { kind: 'done' }, 'INVALID_OPTION', /is not an outcome/),
  outcome('release, which is a verb of its own', { kind: 'release' }, 'INVALID_OPTION', /is not an outcome/),
  outcome('a negative delay', { kind: 'retry', delayMs: -1 }, 'INVALID_DURATION', /retry: delay: -1 is too short/),
  outcome('a delay that is no number', { kind: 'snooze', delayMs: Number.NaN }, 'INVALID_DURATION', /snooze: NaN is not a duration/),
  outcome('a moment that is none', { kind: 'retry', at: 'soon' }, 'INVALID_OPTION', /retry: at: "soon" is not a moment/),
  outcome('a result with a function', completed({ f: () => {} }), 'PAYLOAD_NOT_JSON', /the result\.f is a function/),
  outcome('a result with U+0000', completed(['a\u0000']), 'TEXT_INVALID', /the result\[0\] contains U\+0000/),
  outcome('a result over its limit', completed('x'.repeat(1_048_577)), 'PAYLOAD_TOO_LARGE', /the limit is 1048576/),
  outcome('a reason with U+0000', cancelled('\u0000'), 'TEXT_INVALID', /cancelled: reason contains U\+0000/),
  outcome('a reason that is no text', cancelled(5 as never), 'INVALID_OPTION', /cancelled: reason must be text/),
  ['extend: no lease', (jobs, run) => jobs.extend(run, undefined as never), 'INVALID_DURATION', /lease: undefined is not a duration/],
  ['extend: a lease of 0', (jobs, run) => jobs.extend(run, 0), 'INVALID_DURATION', /lease: 0 is too short; it must be at least 1 ms/],
  ['extend: a negative lease', (jobs, run) => jobs.extend(run, '-1m'), 'INVALID_DURATION', /"-1m" is not a duration/],
  [
    'extend: no run',
    (jobs) => jobs.extend(undefined as never, 1),
    'INVALID_OPTION',
    /undefined is not a run; give what claim\(\) returned/,
  ],
  ['finish: an id', (jobs, run) => jobs.finish(run.id as never, completed()), 'INVALID_OPTION', /is not a run/],
  ['finish: all runs at once', (jobs, run) => jobs.finish([run] as never, completed()), 'INVALID_OPTION', /is not a run/],
  ['fail: a job', (jobs, run) => jobs.fail({ id: run.id } as never, 'no'), 'INVALID_OPTION', /is not a run/],
  ['fail: a run without a token', (jobs, { id }) => jobs.fail({ id, lease: { id } } as never, 'no'), 'INVALID_OPTION', /is not a run/],
  ['release: nothing', (jobs) => jobs.release(null as never), 'INVALID_OPTION', /null is not a run/],
  [
    'finish in a transaction: nothing',
    (jobs, run) => jobs.transaction(async (tx) => jobs.in(tx).finish(run, undefined as never)),
    'INVALID_OPTION',
    /is not an outcome/,
  ],
]

forEachClient('client: bad input about a run', (open) => {
  it.each(CASES)('%s is refused, and the run goes on', async (_, call, code, words) => {
    const { jobs, find } = await open()
    const { id } = await jobs.enqueue(sendEmail, 1)
    const [run] = await jobs.claim('default')
    const before = await find(id)
    await refused(() => call(jobs, run!), code, words)
    expect(await find(id)).toEqual(before)
    expect(await jobs.finish(run!, completed())).toBe('applied')
  })
})
