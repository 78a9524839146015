import { describe, expect, it } from 'vitest'
import { completed, failure, newJob, reclaimRequest, request } from '../../conformance/builders.ts'
import { DEFAULT_WEIGHTS } from '../../src/core/priority.ts'
import { connectionOn, type SqliteConnection, type SqliteValue } from '../../src/sql/sqlite-connection.ts'
import { handleOn } from '../../src/sql/sqlite-handles.ts'
import type { ClaimRequest } from '../../src/store/types.ts'
import { finishAndClaim, lookForWork } from '../../src/stores/sqlite/claim.ts'
import { enqueueJobs } from '../../src/stores/sqlite/enqueue.ts'
import { extendLeases, lookAtLeases } from '../../src/stores/sqlite/extend.ts'
import { selectPage } from '../../src/stores/sqlite/find.ts'
import { finishRuns } from '../../src/stores/sqlite/finish.ts'
import { maintain, needsMaintenance } from '../../src/stores/sqlite/maintain.ts'
import { reclaimRuns } from '../../src/stores/sqlite/reclaim.ts'
import { createSchemaKeeper } from '../../src/stores/sqlite/schema.ts'
import type { Write } from '../../src/stores/sqlite/write.ts'
import { AVAILABLE, ids, userDb } from './place.ts'

/** Every statement on the hot path once, with its plan. */
function plansOf(prepare: (db: SqliteConnection) => void): string[] {
  const real = connectionOn(handleOn(AVAILABLE[0]!, userDb(':memory:')), (error) => error)
  createSchemaKeeper(':memory:', true).ensure(real, 0)
  prepare(real)
  const seen = new Map<string, readonly SqliteValue[]>()
  const noted = (sql: string, parameters: readonly SqliteValue[] = []): string => {
    seen.set(sql, parameters)
    return sql
  }
  const db: SqliteConnection = {
    ...real,
    run: (sql, parameters) => real.run(noted(sql, parameters), parameters),
    all: (sql, parameters) => real.all(noted(sql, parameters), parameters),
    lists: (sql, parameters) => real.lists(noted(sql, parameters), parameters),
    get: (sql, parameters) => real.get(noted(sql, parameters), parameters),
  }
  work({ db, now: Date.now(), wake: () => {} })
  return [...seen].map(([sql, parameters]) => {
    const plan = real.all(`explain query plan ${sql}`, parameters).map((row) => String(row['detail']))
    return `${sql}\n  ${plan.join('\n  ')}`
  })
}

function work(write: Write): void {
  const { db, now } = write
  const job = (over = {}) => newJob(ids, { runAt: now, ...over })
  enqueueJobs(write, [job(), job({ repeat: true }), ...Array.from({ length: 20 }, (_, at) => job({ priority: at }))])
  const claims: Partial<ClaimRequest>[] = [{}, { tasks: ['send_email'] }, { weights: DEFAULT_WEIGHTS }, { limit: 100 }]
  for (const over of claims) {
    const wanted = request({ limit: 4, ...over })
    lookForWork(db, now, wanted)
    const [a, b, c, d] = finishAndClaim(write, ids, wanted).runs
    const leases = [a!, b!, c!].map(({ lease }) => lease)
    extendLeases(write, leases, { leaseMs: 1_000 })
    lookAtLeases(db, leases)
    finishRuns(write, [
      completed(a!),
      { lease: b!.lease, kind: 'dead', error: failure() },
      { lease: c!.lease, kind: 'retry', error: failure(), delayMs: 0 },
      { lease: c!.lease, kind: 'cancelled' },
    ])
    finishAndClaim(write, ids, { ...wanted, limit: 1, finish: [{ lease: d!.lease, kind: 'release' }] })
  }
  lookForWork(db, now, request({ queue: 'empty' }))
  reclaimRuns({ ...write, now: now + 100_000 }, ids, reclaimRequest({ limit: 3, queues: ['default'] }))
  reclaimRuns({ ...write, now: now + 100_000 }, ids, reclaimRequest({ limit: 3 }))
  needsMaintenance(db, now)
  maintain(write, 10)
  selectPage(db, { ids: [ids.next()] }, { limit: 1, order: 'oldest' })
  selectPage(db, {}, { limit: 1, order: 'newest', after: ids.next() })
}

// What the planner believes of the tables, right or wrong: the user may run `analyze` when there is next to nothing in them.
const BELIEFS: readonly [string, (db: SqliteConnection) => void][] = [
  ['never analysed', () => {}],
  ['analysed when it was empty', (db) => db.exec('analyze')],
  ['analysed when there was a single row', (db) => believe(db, 1)],
  ['analysed when there were ten rows', (db) => believe(db, 10)],
]

function believe(db: SqliteConnection, rows: number): void {
  const indexes = db.all(
    "select name, tbl_name from sqlite_schema where type = 'index' and tbl_name like 'triphammer%' and name like 'triphammer%'",
  )
  db.exec('analyze')
  for (const { name, tbl_name: table } of indexes) {
    const columns = db.all(`pragma index_info(${String(name)})`).length
    const unique = String(name).endsWith('_id')
    db.run('insert into sqlite_stat1 values (?, ?, ?)', [
      table!,
      name!,
      `${rows} ${Array(columns)
        .fill(unique ? 1 : rows)
        .join(' ')}`,
    ])
  }
  db.exec('analyze sqlite_schema')
}

describe('plans', () => {
  it.each(BELIEFS)('no statement of the hot path scans or sorts a table of jobs: %s', (_, prepare) => {
    const plans = plansOf(prepare)
    expect(plans.length).toBeGreaterThan(25)
    // To sort those that are equal in the index's own order is fine.
    const bad = plans.filter((plan) => /SCAN triphammer_(live|ended|history)\b(?! USING)|TEMP B-TREE FOR ORDER BY/.test(plan))
    expect(bad).toEqual([])
  })
})
