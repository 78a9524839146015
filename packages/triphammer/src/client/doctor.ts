import type { Clock } from '../core/clock.ts'
import { DEFAULTS } from '../core/defaults.ts'
import { durationText } from '../core/duration-text.ts'
import { isTriphammerError } from '../core/errors.ts'
import { UNSUCCESSFUL } from '../core/state.ts'
import { show } from '../core/text.ts'
import type { QueueInfo } from '../store/admin.ts'
import type { Finding } from '../store/health.ts'
import type { Store } from '../store/store.ts'
import type { SessionRecord } from '../store/types.ts'

/** What the doctor found. */
export interface Diagnosis {
  /** Nothing is a problem; there may be warnings. */
  readonly healthy: boolean
  /** Everything that was looked at, in an order that people read. */
  readonly findings: readonly Finding[]
}

/** What the doctor looks at. */
export interface DoctorOptions {
  readonly store: Store
  readonly clock: Clock
  readonly deep: boolean
}

/** A due job that has waited longer than this in a queue that somebody works on is worth a look. */
const LONG_WAIT_MS = 60_000
/** A worker tells a pulse at least this often; how old the last one may be. */
const ALIVE_MS = DEFAULTS.sessionLiveMs
/** Clocks of machines differ by less, as long as somebody sets them. */
const CLOCK_MS = 60_000
const RECENT_MS = 86_400_000

/** Looks at everything. */
export async function diagnose({ store, clock, deep }: DoctorOptions): Promise<Diagnosis> {
  const schema = await attempt(() => schemaFinding(store))
  // Nothing can be counted in tables that are not there; what the store lives on may tell why.
  const counted = schema.every(({ level }) => level !== 'problem') ? await attempt(() => jobFindings(store, clock)) : []
  const health = await attempt(async () => (await store.facets.health?.check({ deep })) ?? [])
  const findings = withoutRepeats([...schema, ...counted, ...health])
  return { healthy: findings.every(({ level }) => level !== 'problem'), findings }
}

async function attempt(look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await look()
  } catch (error) {
    if (!isTriphammerError(error)) throw error
    return [{ check: 'store', level: 'problem', message: error.message }]
  }
}

// A store that cannot be opened says the same at each step.
function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ message }, at) => findings.findIndex((other) => other.message === message) === at)
}

async function schemaFinding({ schema }: Store): Promise<readonly Finding[]> {
  const { applied, pending, unknown } = await schema.status()
  const check = 'schema'
  const breaking = unknown.find((step) => step.breaking)
  if (breaking) {
    const message = `the schema has step ${breaking.id} (${breaking.name}) of a newer version`
    return [{ check, level: 'problem', message, advice: 'update triphammer in this process' }]
  }
  if (pending.length > 0) {
    const message = `${plural(pending.length, 'step')} of the schema ${pending.length === 1 ? 'is' : 'are'} not applied`
    return [{ check, level: 'problem', message, advice: 'run `triphammer migrate`' }]
  }
  const last = applied.at(-1)
  const newer = unknown.length > 0 ? `, ${plural(unknown.length, 'step')} of a newer version that this one can live with` : ''
  return [{ check, level: 'ok', message: last ? `up to date at step ${last.id} (${last.name})${newer}` : 'this store needs none' }]
}

async function jobFindings(store: Store, clock: Clock): Promise<readonly Finding[]> {
  const { admin } = store
  const now = clock.now()
  const [queues, sessions] = [await admin.queues(), await admin.sessions()]
  const alive = sessions.filter(({ seenAt }) => now - seenAt <= ALIVE_MS)
  return [
    workerFinding(alive, sessions.length - alive.length, queues),
    await foreignFinding(store, alive, queues, now),
    waitFinding(queues, now),
    pauseFinding(queues, now),
    await leaseFinding(store, now),
    await endedFinding(store, now),
    await clockFinding(store, sessions, now),
  ]
}

function workerFinding(alive: readonly SessionRecord[], silent: number, queues: readonly QueueInfo[]): Finding {
  const check = 'workers'
  const due = queues.filter(({ waitingSince, paused }) => waitingSince !== undefined && !paused)
  const gone = silent > 0 ? `; ${plural(silent, 'more')} not heard of for ${durationText(ALIVE_MS)} or longer` : ''
  if (alive.length === 0 && due.length > 0) {
    const message = `no worker is alive, and jobs are due in ${listed(due.map(({ name }) => name))}${gone}`
    return { check, level: 'problem', message, advice: 'start a worker' }
  }
  if (alive.length === 0) return { check, level: 'ok', message: `none is alive, and nothing is due${gone}` }
  const [slots, running, held] = (['concurrency', 'running', 'held'] as const).map((key) => sum(alive.map((session) => session[key])))
  return {
    check,
    level: 'ok',
    message: `${plural(alive.length, 'worker')} with ${plural(slots!, 'slot')}: ${running} running, ${held} held${gone}`,
  }
}

// A job whose task no worker of its queue knows waits for ever, and nobody says so.
async function foreignFinding(
  { admin }: Store,
  alive: readonly SessionRecord[],
  queues: readonly QueueInfo[],
  now: number,
): Promise<Finding> {
  const check = 'foreign tasks'
  const foreign: string[] = []
  for (const { name, waitingSince } of queues) {
    const serving = alive.filter((session) => session.queues.includes(name))
    if (waitingSince === undefined || alive.length === 0) continue
    const known = new Set(serving.flatMap(({ tasks }) => tasks))
    const counts = await admin.count({ queues: [name], states: ['pending'], runBefore: now + 1 }, 'task')
    for (const { key, count } of counts) if (!known.has(key)) foreign.push(`${count} of ${show(key)} in ${show(name)}`)
  }
  if (foreign.length === 0) return { check, level: 'ok', message: alive.length === 0 ? 'no worker to compare with' : 'none is waiting' }
  const advice = 'start a worker with a handler for that task and that queue, or delete the jobs'
  return { check, level: 'problem', message: `due jobs that no live worker handles: ${listed(foreign)}`, advice }
}

function waitFinding(queues: readonly QueueInfo[], now: number): Finding {
  const check = 'oldest job'
  const [longest] = queues
    .filter(({ waitingSince, paused }) => waitingSince !== undefined && !paused)
    .toSorted((a, b) => a.waitingSince! - b.waitingSince!)
  if (!longest) return { check, level: 'ok', message: 'none is due' }
  const waitedMs = Math.max(0, now - longest.waitingSince!)
  const message = `due for ${durationText(waitedMs)}, in ${show(longest.name)}`
  if (waitedMs <= LONG_WAIT_MS) return { check, level: 'ok', message }
  return { check, level: 'warning', message, advice: 'add workers or concurrency, or see what holds the queue up' }
}

function pauseFinding(queues: readonly QueueInfo[], now: number): Finding {
  const check = 'paused queues'
  const held = queues.filter(({ paused, pending }) => paused && pending > 0)
  if (held.length === 0) return { check, level: 'ok', message: 'none holds jobs back' }
  const told = held.map(({ name, pending, paused }) => {
    const by = paused!.by === undefined ? '' : ` by ${show(paused!.by)}`
    return `${show(name)} holds ${plural(pending, 'job')}, paused${by} ${durationText(Math.max(0, now - paused!.since))} ago`
  })
  return { check, level: 'warning', message: listed(told), advice: 'resume what need not wait' }
}

async function leaseFinding({ admin }: Store, now: number): Promise<Finding> {
  const check = 'leases'
  const [overdue] = await admin.count({ states: ['running'], leaseBefore: now - DEFAULTS.leaseMs })
  const [running] = await admin.count({ states: ['running'] })
  if (overdue!.count === 0) return { check, level: 'ok', message: `${running!.count} running, none overdue` }
  const message = `${overdue!.count} of ${running!.count} running are overdue by more than ${durationText(DEFAULTS.leaseMs)}: nobody reclaims them`
  return { check, level: 'problem', message, advice: 'start a worker, or call `reclaim()` where there is none' }
}

async function endedFinding({ admin }: Store, now: number): Promise<Finding> {
  const check = 'unsuccessful jobs'
  const [all] = await admin.count({ states: UNSUCCESSFUL })
  const [recent] = await admin.count({ states: UNSUCCESSFUL, endedAfter: now - RECENT_MS })
  const message = `${all!.count} kept, ${recent!.count} of them from the last ${durationText(RECENT_MS)}`
  if (recent!.count === 0) return { check, level: 'ok', message }
  return { check, level: 'warning', message, advice: 'look at them with `triphammer jobs list --state unsuccessful`, then retry or purge' }
}

async function clockFinding({ admin }: Store, sessions: readonly SessionRecord[], now: number): Promise<Finding> {
  const check = 'clock'
  const [newest] = (await admin.find({}, { limit: 1, order: 'newest' })).jobs
  const ahead = Math.max(0, ...sessions.map(({ seenAt }) => seenAt - now), (newest?.createdAt ?? 0) - now)
  if (ahead <= CLOCK_MS) return { check, level: 'ok', message: 'nothing in the store lies in the future' }
  const message = `the store has been written to ${durationText(ahead)} ahead of this machine's clock`
  return { check, level: 'warning', message, advice: 'set the clocks of all machines by a time server; leases and delays go by them' }
}

function plural(count: number, thing: string): string {
  return thing === 'more' || count === 1 ? `${count} ${thing}` : `${count} ${thing}s`
}

const SHOWN = 5

function listed(things: readonly string[]): string {
  const rest = things.length - SHOWN
  return `${things.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
