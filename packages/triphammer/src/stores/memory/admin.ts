import type { AdminStore, Count, CountKey, JobFilter } from '../../store/admin.ts'
import { applyCommand, removeJobs } from './command.ts'
import type { Queues } from './queues.ts'
import { recordOf } from './row.ts'
import type { Rows } from './rows.ts'
import { matching, selectPage } from './select.ts'
import type { Sessions } from './sessions.ts'
import type { Transactions } from './transaction.ts'

/** What the admin side works on. */
export interface AdminParts {
  readonly rows: Rows
  readonly transactions: Transactions
  readonly queues: Queues
  readonly sessions: Sessions
  /** The store's time; throws when the store is closed. */
  now(): number
  resumed(queue: string): void
}

/** Makes the admin side of a store. */
export function createAdmin({ rows, transactions, queues, sessions, now, resumed }: AdminParts): AdminStore {
  return {
    async find(filter, page) {
      now()
      const found = selectPage(rows, filter, page)
      return { jobs: found.rows.map(recordOf), ...(found.next === undefined ? {} : { next: found.next }) }
    },
    async count(filter, by) {
      now()
      return countBy(rows, filter, by)
    },
    async apply(filter, command, slice, tx) {
      return transactions.write(tx, applyCommand(filter, command, slice, now()))
    },
    async remove(filter, slice, tx) {
      now()
      return transactions.write(tx, removeJobs(filter, slice))
    },
    async queues() {
      return queues.list(rows, now())
    },
    async setQueue(name, patch) {
      const at = now()
      if (queues.set(name, patch, at)) resumed(name)
      return queues.info(rows, name, at)
    },
    async sessions() {
      now()
      return sessions.list()
    },
  }
}

function countBy(rows: Rows, filter: JobFilter, by: CountKey | undefined): readonly Count[] {
  const counts = new Map<string, number>(by === undefined ? [['all', 0]] : [])
  for (const row of matching(rows, filter)) {
    const key = by === undefined ? 'all' : String(row[by])
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].map(([key, count]) => ({ key, count })).sort((a, b) => (a.key < b.key ? -1 : 1))
}
