import { expect, it } from 'vitest'
import type { ErrorCode } from '../src/core/errors.ts'
import { fixed } from '../src/core/retry.ts'
import { forEachClient, type OpenedClient, refused, sendEmail } from './client.ts'

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'
const LONG = 'x'.repeat(129)
const unprintable: unknown = Object.create(null)

type Row = readonly [what: string, options: unknown, code: ErrorCode, words: RegExp]
type Case = readonly [what: string, call: (opened: OpenedClient) => unknown, code: ErrorCode, words: RegExp]

const JOB: readonly Row[] = [
  ['an unknown option', { delya: 1 }, 'UNKNOWN_OPTION', /send_email: unknown option "delya"; known are id, queue, /],
  ['text as options', 'high', 'INVALID_OPTION', /options must be an object/],
  ['a list as options', [], 'INVALID_OPTION', /options must be an object/],
  ['id: not a UUID', { id: '42' }, 'INVALID_ID', /id: "42" is not a UUID such as /],
  ['id: a number', { id: 42 }, 'INVALID_ID', /id: 42 is not a UUID/],
  ['id: a bigint', { id: 42n }, 'INVALID_ID', /is not a UUID/],
  ['id: null', { id: null }, 'INVALID_ID', /id: null is not a UUID/],
  ['queue: empty', { queue: '' }, 'INVALID_NAME', /queue must not be empty/],
  ['queue: 129 characters', { queue: LONG }, 'INVALID_NAME', /queue has 129 characters; at most 128/],
  ['queue: a number', { queue: 5 }, 'INVALID_NAME', /queue must be a string, not number/],
  ['queue: U+0000', { queue: 'a\u0000b' }, 'TEXT_INVALID', /queue contains U\+0000.*remove it or encode/],
  ['queue: half of a character', { queue: 'a\ud800' }, 'TEXT_INVALID', /queue contains a lone surrogate.*toWellFormed/],
  ['priority: no level', { priority: 'urgent' }, 'INVALID_OPTION', /priority: "urgent" is not a priority; give critical, high/],
  ['priority: no integer', { priority: 1.5 }, 'INVALID_OPTION', /priority: 1\.5 is not a priority/],
  ['priority: too low', { priority: -32_769 }, 'INVALID_OPTION', /integer from -32768 to 32767/],
  ['priority: too high', { priority: 32_768 }, 'INVALID_OPTION', /lower runs first/],
  ['priority: a key of every object', { priority: 'constructor' }, 'INVALID_OPTION', /is not a priority/],
  ['delay: negative', { delay: -1 }, 'INVALID_DURATION', /delay: -1 is too short; it must not be negative/],
  ['delay: negative text', { delay: '-5s' }, 'INVALID_DURATION', /delay: "-5s" is not a duration; give milliseconds or text such as/],
  ['delay: no unit', { delay: '5' }, 'INVALID_DURATION', /not a duration/],
  ['delay: empty', { delay: '' }, 'INVALID_DURATION', /not a duration/],
  ['delay: NaN', { delay: Number.NaN }, 'INVALID_DURATION', /NaN is not a duration/],
  ['delay: Infinity', { delay: Number.POSITIVE_INFINITY }, 'INVALID_DURATION', /Infinity is not a duration/],
  ['delay: over 100 years', { delay: '36501d' }, 'INVALID_DURATION', /longer than 100 years/],
  ['delay: null', { delay: null }, 'INVALID_DURATION', /null is not a duration/],
  ['delay: a bigint', { delay: 5n }, 'INVALID_DURATION', /not a duration/],
  ['delay: an object without a prototype', { delay: unprintable }, 'INVALID_DURATION', /not a duration/],
  ['delay and runAt', { delay: 1, runAt: 1 }, 'INVALID_OPTION', /give delay or runAt, not both/],
  ['runAt: no moment', { runAt: 'tomorrow' }, 'INVALID_OPTION', /runAt: "tomorrow" is not a moment; give a Date/],
  ['runAt: without an offset', { runAt: '2026-03-01T08:00:00' }, 'INVALID_OPTION', /ISO text with an offset/],
  ['runAt: 30 February', { runAt: '2026-02-30' }, 'INVALID_OPTION', /"2026-02-30" is not a moment/],
  ['runAt: 31 April at noon', { runAt: '2026-04-31T12:00:00Z' }, 'INVALID_OPTION', /is not a moment/],
  ['runAt: an invalid Date', { runAt: new Date(Number.NaN) }, 'INVALID_OPTION', /Invalid Date is not a moment/],
  ['runAt: before 1970', { runAt: -1 }, 'INVALID_OPTION', /-1 is not a moment/],
  ['runAt: the year 10000', { runAt: Date.UTC(10_000, 0) }, 'INVALID_OPTION', /is not a moment/],
  ['runAt: an object', { runAt: {} }, 'INVALID_OPTION', /is not a moment/],
  ['runAt: an object without a prototype', { runAt: unprintable }, 'INVALID_OPTION', /is not a moment/],
  ['maxAttempts: 0', { maxAttempts: 0 }, 'INVALID_OPTION', /maxAttempts: 0 is not a whole number from 1 to 32767/],
  ['maxAttempts: negative', { maxAttempts: -1 }, 'INVALID_OPTION', /maxAttempts: -1/],
  ['maxAttempts: 1.5', { maxAttempts: 1.5 }, 'INVALID_OPTION', /maxAttempts: 1\.5/],
  ['maxAttempts: 32768', { maxAttempts: 32_768 }, 'INVALID_OPTION', /maxAttempts: 32768/],
  ['maxAttempts: text', { maxAttempts: '3' }, 'INVALID_OPTION', /maxAttempts: "3"/],
  ['timeout: 0', { timeout: 0 }, 'INVALID_DURATION', /timeout: 0 is too short; it must be at least 1 ms/],
  ['timeout: 0s', { timeout: '0s' }, 'INVALID_DURATION', /timeout: "0s" is too short/],
  ['timeout: negative', { timeout: -5 }, 'INVALID_DURATION', /timeout: -5 is too short/],
  ['retain: negative', { retain: -1 }, 'INVALID_DURATION', /retain: -1 is too short/],
  ['retain: true', { retain: true }, 'INVALID_DURATION', /retain: true is not a duration/],
  ['retry: a function', { retry: () => 1 }, 'INVALID_OPTION', /retry: a function cannot be stored.*task or the worker/],
  ['retry: text', { retry: 'fixed' }, 'INVALID_OPTION', /retry must be made by fixed\(\), linear\(\)/],
  ['retry: null', { retry: null }, 'INVALID_OPTION', /retry must be made by/],
  ['retry: of no kind', { retry: { kind: 'random', baseMs: 1 } }, 'INVALID_OPTION', /retry must be made by/],
  ['retry: without a base', { retry: { kind: 'fixed' } }, 'INVALID_OPTION', /retry must be made by/],
  ['retry: NaN', { retry: { kind: 'fixed', baseMs: Number.NaN } }, 'INVALID_OPTION', /retry: baseMs: NaN is not a number of 0 or more/],
  ['retry: negative', { retry: { ...fixed(1), maxMs: -1 } }, 'INVALID_OPTION', /maxMs: -1 is not a number/],
  ['retry: an unknown option', { retry: { ...fixed(1), max: 5 } }, 'UNKNOWN_OPTION', /retry: unknown option "max"/],
  ['retry: errors', { retry: { ...fixed(1), errors: { E: 'die' } } }, 'INVALID_OPTION', /errors\.E: give 'dead' or a backoff/],
  ['retry: errors of errors', { retry: { ...fixed(1), errors: { E: fixed(1, { errors: {} }) } } }, 'INVALID_OPTION', /errors\.E/],
  ['retry: U+0000', { retry: { ...fixed(1), errors: { 'a\u0000': 'dead' } } }, 'TEXT_INVALID', /errors.*U\+0000/],
]

const notTask = /is not a task; give what defineTask\(\) returned/
const ELSEWHERE: readonly Case[] = [
  ['enqueue: the name of a task', ({ jobs }) => jobs.enqueue('send_email' as never, 1), 'INVALID_OPTION', /"send_email" is not a task/],
  ['enqueue: no task', ({ jobs }) => jobs.enqueue(undefined as never, 1), 'INVALID_OPTION', notTask],
  ['enqueue: an object', ({ jobs }) => jobs.enqueue({ name: 'x' } as never, 1), 'INVALID_OPTION', notTask],
  ['enqueueMany: no list', ({ jobs }) => jobs.enqueueMany(sendEmail, undefined as never), 'INVALID_OPTION', /task and a list of payloads/],
  ['enqueueMany: one payload', ({ jobs }) => jobs.enqueueMany(sendEmail, 'x' as never), 'INVALID_OPTION', /task and a list of payloads/],
  ['enqueueMany: names', ({ jobs }) => jobs.enqueueMany(['send_email'] as never), 'INVALID_OPTION', notTask],
  ['enqueueMany: tasks', ({ jobs }) => jobs.enqueueMany([sendEmail] as never), 'INVALID_OPTION', notTask],
  ['enqueueMany: a hole', ({ jobs }) => jobs.enqueueMany(new Array(2) as never), 'INVALID_OPTION', notTask],
  [
    'enqueueMany: one id',
    ({ jobs }) => jobs.enqueueMany(sendEmail, [1], { id: ID }),
    'INVALID_OPTION',
    /one id cannot be that of many jobs/,
  ],
  [
    'enqueueMany: options beside a list of jobs',
    ({ jobs }) => jobs.enqueueMany([sendEmail.with(1)] as never, { delay: '1h' } as never),
    'INVALID_OPTION',
    /give each its own options with task\.with/,
  ],
  ['enqueueMany: a typo', ({ jobs }) => jobs.enqueueMany(sendEmail, [1], { dealy: 1 } as never), 'UNKNOWN_OPTION', /"dealy"/],
  ['enqueueMany: a typo in one', ({ jobs }) => jobs.enqueueMany([sendEmail.with(1, { a: 1 } as never)]), 'UNKNOWN_OPTION', /"a"/],
  ['claim: no queue', ({ jobs }) => jobs.claim(undefined as never), 'INVALID_NAME', /queue must be a string, not undefined/],
  ['claim: a queue of 129', ({ jobs }) => jobs.claim(LONG), 'INVALID_NAME', /129 characters/],
  ['claim: a typo', ({ jobs }) => jobs.claim('q', { limit: 1 } as never), 'UNKNOWN_OPTION', /claim: unknown option "limit"; known are max/],
  ['claim: max -1', ({ jobs }) => jobs.claim('q', { max: -1 }), 'INVALID_OPTION', /max: -1 is not a whole number from 0 to 1000/],
  ['claim: max 1001', ({ jobs }) => jobs.claim('q', { max: 1_001 }), 'INVALID_OPTION', /max: 1001/],
  ['claim: lease 0', ({ jobs }) => jobs.claim('q', { lease: 0 }), 'INVALID_DURATION', /lease: 0 is too short; it must be at least 1 ms/],
  ['claim: lease -1', ({ jobs }) => jobs.claim('q', { lease: -1 }), 'INVALID_DURATION', /lease: -1/],
  ['claim: weights', ({ jobs }) => jobs.claim('q', { weights: 'high' as never }), 'INVALID_OPTION', /weights: give 'default' or/],
  ['claim: a list of weights', ({ jobs }) => jobs.claim('q', { weights: [] as never }), 'INVALID_OPTION', /weights: give 'default' or/],
  ['claim: no level', ({ jobs }) => jobs.claim('q', { weights: { top: 1 } as never }), 'INVALID_OPTION', /weights: "top" is not a level/],
  ['claim: weight -1', ({ jobs }) => jobs.claim('q', { weights: { high: -1 } }), 'INVALID_OPTION', /weights\.high: -1 is not a number/],
  ['claim: tasks', ({ jobs }) => jobs.claim('q', { tasks: 'send_email' as never }), 'INVALID_OPTION', /tasks: "send_email" is not a list/],
  [
    'claim: a task without a name',
    ({ jobs }) => jobs.claim('q', { tasks: [{} as never] }),
    'INVALID_NAME',
    /claim: tasks must be a string/,
  ],
  ['claim: an empty task', ({ jobs }) => jobs.claim('q', { tasks: [''] }), 'INVALID_NAME', /must not be empty/],
  ['get: no id', ({ jobs }) => jobs.get(undefined as never), 'INVALID_ID', /undefined is not a UUID/],
  ['list: a typo', ({ jobs }) => jobs.list({}, { size: 5 } as never), 'UNKNOWN_OPTION', /list: unknown option "size"/],
  ['list: limit 0', ({ jobs }) => jobs.list({}, { limit: 0 }), 'INVALID_OPTION', /limit: 0 is not a whole number from 1 to 1000/],
  ['list: order', ({ jobs }) => jobs.list({}, { order: 'up' as never }), 'INVALID_OPTION', /"up" is neither 'newest' nor 'oldest'/],
  ['list: after', ({ jobs }) => jobs.list({}, { after: '7' }), 'INVALID_ID', /after: "7"/],
  ['filter: a typo', ({ jobs }) => jobs.count({ queu: 'x' } as never), 'UNKNOWN_OPTION', /filter: unknown option "queu"/],
  ['filter: text', ({ jobs }) => jobs.count('x' as never), 'INVALID_OPTION', /filter: the options must be an object/],
  ['filter: id', ({ jobs }) => jobs.count({ id: 'x' }), 'INVALID_ID', /filter: id: "x"/],
  ['filter: queue', ({ jobs }) => jobs.count({ queue: '' }), 'INVALID_NAME', /filter: queue must not be empty/],
  ['filter: task', ({ jobs }) => jobs.count({ task: 5 as never }), 'INVALID_NAME', /filter: task must be a string/],
  ['filter: a task without a name', ({ jobs }) => jobs.count({ task: {} as never }), 'INVALID_NAME', /filter: task must be a string/],
  ['filter: state', ({ jobs }) => jobs.count({ state: 'done' as never }), 'INVALID_OPTION', /state "done" is not one of pending/],
  ['filter: a bigint as state', ({ jobs }) => jobs.count({ state: 1n as never }), 'INVALID_OPTION', /state 1 is not one of/],
  ['filter: priority', ({ jobs }) => jobs.count({ priority: 'x' as never }), 'INVALID_OPTION', /filter: priority: "x"/],
  ['filter: moment', ({ jobs }) => jobs.count({ createdBefore: 'now' }), 'INVALID_OPTION', /createdBefore: "now" is not a moment/],
  ['countBy', ({ jobs }) => jobs.countBy('day' as never), 'INVALID_OPTION', /"day" is not one of state, queue, task, priority/],
  ['a command on no id', ({ jobs }) => jobs.retry('x'), 'INVALID_ID', /"x" is not a UUID/],
  ['a command on nothing', ({ jobs }) => jobs.delete(undefined as never), 'INVALID_OPTION', /filter: the options must be an object/],
  ['retry: a typo', ({ jobs }) => jobs.retry(ID, { dealy: 1 } as never), 'UNKNOWN_OPTION', /retry: unknown option "dealy"/],
  ['retry: at and delay', ({ jobs }) => jobs.retry(ID, { at: 1, delay: 1 }), 'INVALID_OPTION', /give at or delay, not both/],
  ['reschedule: no time', ({ jobs }) => jobs.reschedule(ID, {}), 'INVALID_OPTION', /reschedule: say when, with at or delay/],
  ['reschedule: a negative delay', ({ jobs }) => jobs.reschedule(ID, { delay: -1 }), 'INVALID_DURATION', /reschedule: delay: -1/],
  ['reprioritise', ({ jobs }) => jobs.reprioritise(ID, undefined as never), 'INVALID_OPTION', /undefined is not a priority/],
  ['kill: a typo', ({ jobs }) => jobs.kill(ID, { because: 'x' } as never), 'UNKNOWN_OPTION', /kill: unknown option "because"/],
  ['failed: no text', ({ jobs }) => jobs.failed(ID, { reason: 5 as never }), 'INVALID_OPTION', /failed: reason must be text, not number/],
  ['cancel: U+0000', ({ jobs }) => jobs.cancel(ID, { reason: '\u0000' }), 'TEXT_INVALID', /cancel: reason contains U\+0000/],
  ['cancel: half of a character', ({ jobs }) => jobs.cancel(ID, { reason: '\udfff' }), 'TEXT_INVALID', /lone surrogate/],
  ['cancel: a typo', ({ jobs }) => jobs.cancel(ID, { forse: true } as never), 'UNKNOWN_OPTION', /cancel: unknown option "forse"/],
  [
    'cancel: force',
    ({ jobs }) => jobs.cancel(ID, { force: 'false' as never }),
    'INVALID_OPTION',
    /force: "false" is neither true nor false/,
  ],
  ['delete: force', ({ jobs }) => jobs.delete(ID, { force: 1 as never }), 'INVALID_OPTION', /force: 1 is neither true nor false/],
  ['pause: no queue', ({ jobs }) => jobs.pause(''), 'INVALID_NAME', /queue must not be empty/],
  ['pause: a typo', ({ jobs }) => jobs.pause('q', { why: 'x' } as never), 'UNKNOWN_OPTION', /pause: unknown option "why"/],
  ['pause: by nobody', ({ jobs }) => jobs.pause('q', { by: '' }), 'INVALID_NAME', /pause: by must not be empty/],
  ['pause: no text', ({ jobs }) => jobs.pause('q', { reason: 5 as never }), 'INVALID_OPTION', /pause: reason must be text/],
  ['pause: U+0000', ({ jobs }) => jobs.pause('q', { reason: 'a\u0000' }), 'TEXT_INVALID', /pause: reason contains U\+0000/],
  ['resume: no queue', ({ jobs }) => jobs.resume(LONG), 'INVALID_NAME', /129 characters/],
  ['migrate: a typo', ({ jobs }) => jobs.migrate({ dryrun: true } as never), 'UNKNOWN_OPTION', /migrate: unknown option "dryrun"/],
  ['client: a typo', ({ clientWith }) => clientWith({ limit: 5 } as never), 'UNKNOWN_OPTION', /createClient: unknown option "limit"/],
  ['client: payloadLimit', ({ clientWith }) => clientWith({ payloadLimit: 0 }), 'INVALID_OPTION', /payloadLimit: 0 is not a whole number/],
  ['client: store', ({ clientWith }) => clientWith({ store: 'jobs.db' as never }), 'INVALID_OPTION', /"jobs\.db" is not a store; give/],
]

forEachClient('client: bad options', (open) => {
  it.each(JOB)('a job with %s is refused, and nothing is written', async (_, options, code, words) => {
    const { jobs, isEmpty } = await open()
    await refused(() => jobs.enqueue(sendEmail, 1, options as never), code, words)
    await refused(() => jobs.enqueueMany([sendEmail.with(1), sendEmail.with(2, options as never)]), code, words)
    expect(await isEmpty()).toBe(true)
  })

  it.each(ELSEWHERE)('%s is refused, and nothing is written', async (_, call, code, words) => {
    const opened = await open()
    await refused(() => call(opened), code, words)
    expect(await opened.isEmpty()).toBe(true)
  })
})
