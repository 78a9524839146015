import { DEFAULTS } from '../../core/defaults.ts'
import type { Outcome } from '../../store/types.ts'
import { ENDED, FREE, STARTED, timesOf } from './ended.ts'
import { orNull } from './rows.ts'
import { changeAll } from './transact.ts'
import type { Write } from './write.ts'

type Completed = Extract<Outcome, { readonly kind: 'completed' }>

// Retention in whole milliseconds, a fraction counting as a full one.
const RETAIN_MS = `coalesce(cast(retain_ms as integer) + (retain_ms > cast(retain_ms as integer)), ${DEFAULTS.retainMs})`

const INTO_HISTORY = `insert or replace into triphammer_history
  (id, queue, task, priority, run_at, created_at, attempt, max_attempts, started_at, ended_at, keep_until,
   timeout_ms, retain_ms, retry, error, progress, result, payload)`

/** The columns of a live job as those of its history, given expressions for its start, its end and its result. */
const historyOf = (started: string, ended: string, result: string): string =>
  `select id, queue, task, priority, run_at, created_at, attempt, max_attempts, ${started}, ${ended}, ${ended} + ${RETAIN_MS},
   timeout_ms, retain_ms, retry, error, progress, ${result}, payload`

const COPY_ONE = `${INTO_HISTORY} ${historyOf(STARTED, ENDED, '?')} from triphammer_live where id = ? and ${FREE} and retain_ms is not 0`
const REMOVE_ONE = `delete from triphammer_live where id = ? and ${FREE}`

/** Completes one run. `false`: it is not the caller's, or is to be cancelled. */
export function complete({ db, now }: Write, outcome: Completed): boolean {
  const { id, token } = outcome.lease
  const [started, ended] = timesOf(outcome)
  db.run(COPY_ONE, [started, ended, now, ended, now, orNull(outcome.result), id, token])
  return db.run(REMOVE_ONE, [id, token]) === 1
}

/** Fewer are completed one by one: the statements for many cost something of their own. */
const MANY = 4

// The copy is made first: it is the removal that tells whether all of them were there to be completed.
const COPY_MANY = `${INTO_HISTORY}
  with outcome (job, began, over, said) as (select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?))
  ${historyOf('started_at + began', 'coalesce(started_at + over, ?)', 'said')}
  from outcome cross join triphammer_live indexed by triphammer_live_id on id = job
  where ${FREE} and retain_ms is not 0`
const REMOVE_MANY = `delete from triphammer_live indexed by triphammer_live_id
  where id in (select value from json_each(?)) and ${FREE}`
const FORGET_MANY = `${REMOVE_MANY} and retain_ms = 0`

/**
 * Completes many runs with few statements, those of one claim together, and returns the outcomes that are written. Whatever
 * is not among them is to be looked at by itself: of a group in which one is stale, none is.
 */
export function completeTogether(write: Write, outcomes: readonly Outcome[]): ReadonlySet<Outcome> {
  const written = new Set<Outcome>()
  if (outcomes.length < MANY) return written
  for (const group of byClaim(outcomes)) {
    if (group.length >= MANY && completeAll(write, group)) for (const outcome of group) written.add(outcome)
  }
  return written
}

// The runs of one claim share their token.
function byClaim(outcomes: readonly Outcome[]): Iterable<Completed[]> {
  const groups = new Map<string, Completed[]>()
  for (const outcome of outcomes) {
    if (outcome.kind !== 'completed') continue
    const group = groups.get(outcome.lease.token)
    if (group) group.push(outcome)
    else groups.set(outcome.lease.token, [outcome])
  }
  return groups.values()
}

function completeAll(write: Write, outcomes: readonly Completed[]): boolean {
  return (isForgotten(write, outcomes[0]!) && forgetAll(write, outcomes)) || moveAll(write, outcomes)
}

// What the first of a group is, the others are too, as a rule: a copy that finds nothing to copy costs as much as the removal.
function isForgotten({ db }: Write, { lease }: Completed): boolean {
  return db.get('select 1 from triphammer_live where id = ? and retain_ms = 0', [lease.id]) !== undefined
}

function forgetAll({ db }: Write, outcomes: readonly Completed[]): boolean {
  return changeAll(db, outcomes.length, () => db.run(FORGET_MANY, [idsOf(outcomes), outcomes[0]!.lease.token]))
}

function moveAll({ db, now }: Write, outcomes: readonly Completed[]): boolean {
  const { token } = outcomes[0]!.lease
  const rows = JSON.stringify(outcomes.map((outcome) => [outcome.lease.id, ...timesOf(outcome), outcome.result]))
  return changeAll(db, outcomes.length, () => {
    db.run(COPY_MANY, [rows, now, now, token])
    return db.run(REMOVE_MANY, [idsOf(outcomes), token])
  })
}

function idsOf(outcomes: readonly Completed[]): string {
  return JSON.stringify(outcomes.map(({ lease }) => lease.id))
}
