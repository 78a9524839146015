import { age, durationText } from '../core/duration-text.ts'
import { levelOf } from '../core/priority.ts'
import { isFinal, type JobState, STATES } from '../core/state.ts'
import type { Job } from '../index.ts'
import { moment } from './moments.ts'
import { printable } from './printable.ts'
import { type Column, listing, table } from './table.ts'

/**
 * Jobs as a table.
 *
 * @param now milliseconds since the epoch
 * @param room columns of the terminal, if there is one
 */
export function jobTable(jobs: readonly Job[], now: number, room: number | undefined): string {
  return table(jobs, columnsAt(now), room)
}

function columnsAt(now: number): readonly Column<Job>[] {
  return [
    { title: 'id', of: ({ id }) => id },
    { title: 'task', cut: { least: 8, fair: 20 }, of: ({ task }) => task },
    { title: 'queue', cut: { least: 6, fair: 16 }, of: ({ queue }) => queue },
    { title: 'state', of: ({ state }) => state },
    { title: 'when', of: (job) => when(job, now) },
    { title: 'attempt', align: 'right', spare: true, of: ({ attempt, maxAttempts }) => `${attempt}/${maxAttempts}` },
    { title: 'error or payload', cut: { least: 16, fair: 16 }, spare: true, of: gist },
  ]
}

// What a pending job waits for and how long, how long a running one runs, how long ago an ended one ended.
function when(job: Job, now: number): string {
  const { state, waitsFor, runAt, startedAt, endedAt, cancelRequested } = job
  if (state === 'running') return `${cancelRequested ? 'cancelling' : 'for'} ${age(now - Number(startedAt ?? runAt))}`
  if (state !== 'pending') return `${age(now - Number(endedAt))} ago`
  if (waitsFor === 'worker') return `due ${age(now - Number(runAt))} ago`
  return `${waitsFor === 'retry' ? 'retry in' : 'in'} ${age(Number(runAt) - now)}`
}

// Five minutes that have just begun are five minutes.
function untilFull(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000
}

function gist({ error, unreadable, payload }: Job): string {
  if (error) return `${error.name}: ${error.message}`
  return unreadable === undefined ? JSON.stringify(payload) : `unreadable: ${unreadable}`
}

/** All there is to say about a job. */
export function jobListing(job: Job, now: number): string {
  const { priority, attempt, maxAttempts, createdAt, runAt, startedAt, endedAt, leaseUntil, timeoutMs, retry, unreadable } = job
  return listing([
    ['id', job.id],
    ['task', printable(job.task)],
    ['queue', printable(job.queue)],
    ['state', stateText(job)],
    ['attempt', `${attempt} of ${maxAttempts}`],
    ['priority', `${priority} (${levelOf(priority)})`],
    ['created', dated(createdAt, now)],
    ['due', isFinal(job.state) ? moment(runAt) : dated(runAt, now)],
    ['started', startedAt && dated(startedAt, now)],
    ['ended', endedAt && dated(endedAt, now)],
    ['lease until', leaseUntil && dated(leaseUntil, now)],
    ['held by', job.session],
    ['time limit', timeoutMs === undefined ? undefined : durationText(timeoutMs)],
    ['retry', retry && JSON.stringify(retry)],
    ['kept', retentionText(job)],
    ['payload', unreadable === undefined ? pretty(job.payload) : `cannot be read: ${unreadable}`],
    ['progress', job.progress === undefined ? undefined : pretty(job.progress)],
    ['result', job.result === undefined ? undefined : pretty(job.result)],
    ['error', errorText(job)],
  ])
}

function stateText({ state, waitsFor, cancelRequested }: Job): string {
  if (cancelRequested) return `${state}, asked to be cancelled`
  if (waitsFor === undefined) return state
  return `${state}, waits for ${{ time: 'its time', retry: 'its next attempt', worker: 'a worker' }[waitsFor]}`
}

function dated(at: Date, now: number): string {
  const ms = now - Number(at)
  return `${moment(at)}  (${ms < 0 ? `in ${durationText(untilFull(-ms))}` : `${durationText(ms)} ago`})`
}

function retentionText({ retainMs }: Job): string | undefined {
  if (retainMs === undefined) return undefined
  return retainMs === 0 ? 'not, once it has completed' : `for ${durationText(retainMs)}, once it has completed`
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

function errorText({ error }: Job): string | undefined {
  if (!error) return undefined
  const { name, message, code, stack } = error
  const head = `${name}: ${message}`
  const told = stack === undefined ? head : stack.includes(message) ? stack : `${head}\n${stack}`
  return code === undefined ? told : `${told}\ncode: ${code}`
}

/** When a job will be due: `due in 5m`; `undefined` if it is. */
export function dueText({ runAt }: Job, now: number): string | undefined {
  const ms = Number(runAt) - now
  return ms > 0 ? `due in ${durationText(untilFull(ms))}` : undefined
}

/** How many jobs are in which state: `3 pending, 1 dead`. */
export function countsText(counts: Partial<Readonly<Record<JobState, number>>>): string {
  return STATES.filter((state) => counts[state] !== undefined)
    .map((state) => `${counts[state]} ${state}`)
    .join(', ')
}

/** `1 job`, `2 jobs`. */
export function jobCount(count: number): string {
  return `${count} ${count === 1 ? 'job' : 'jobs'}`
}
