import { TriphammerError } from '../../core/errors.ts'
import type { StoreTx } from '../../store/types.ts'
import { createDraft, type Draft, type Rows } from './rows.ts'

/**
 * A write that a transaction can hold back. It writes to `rows` and answers; `again` writes once more what it wrote, to
 * other rows, and says whether every fence held: what was written then is what was answered before.
 */
export type Write<Answer> = (rows: Rows) => { readonly answer: Answer; readonly again: (rows: Rows) => boolean }

/**
 * The transactions of a store. They are optimistic:
 *
 * ```
 * open ──► write: answered from the draft, noted ──► fn resolves ──► all noted writes again, on a fresh draft
 *   │                                                                  │ every fence holds     │ one does not
 *   └── fn rejects: the draft is dropped                               ▼                       ▼
 *                                                                  draft flushed           TX_CONFLICT
 * ```
 *
 * Writing again, rather than flushing the first draft, keeps what others did in the meantime that breaks no fence, such as
 * a heartbeat with its progress.
 */
export interface Transactions {
  /** An open transaction of this store. @throws TriphammerError `TX_UNSUPPORTED`, `TX_NOT_OPEN` */
  adopt(foreign: unknown): StoreTx
  /** Writes at once, or as part of `tx`. */
  write<Answer>(tx: StoreTx | undefined, write: Write<Answer>): Answer
  /** @param beforeCommit throws when the store cannot be used any more */
  run<T>(fn: (tx: StoreTx) => Promise<T>, beforeCommit: () => void): Promise<T>
}

interface Transaction {
  readonly draft: Draft
  readonly writes: ((rows: Rows) => boolean)[]
  open: boolean
}

/** Makes the transactions of a store with these rows. */
export function createTransactions(rows: Rows): Transactions {
  const known = new WeakMap<object, Transaction>()

  const lookUp = (foreign: unknown): Transaction => {
    const transaction = typeof foreign === 'object' && foreign !== null ? known.get(foreign) : undefined
    if (!transaction) {
      throw new TriphammerError(
        'TX_UNSUPPORTED',
        'this is not a transaction of this memory store; use the one that its transaction() passes on',
      )
    }
    if (!transaction.open) {
      throw new TriphammerError('TX_NOT_OPEN', 'the transaction has ended; await everything that belongs to it before its function returns')
    }
    return transaction
  }

  const commit = (transaction: Transaction): void => {
    const draft = createDraft(rows)
    if (!transaction.writes.every((again) => again(draft))) {
      throw new TriphammerError(
        'TX_CONFLICT',
        'a job of the transaction was changed by someone else; nothing of it was written, try it again',
      )
    }
    draft.flush()
  }

  return {
    adopt(foreign) {
      lookUp(foreign)
      return foreign as StoreTx
    },
    write(tx, write) {
      if (tx === undefined) return write(rows).answer
      const { draft, writes } = lookUp(tx)
      const { answer, again } = write(draft)
      writes.push(again)
      return answer
    },
    async run(fn, beforeCommit) {
      const transaction: Transaction = { draft: createDraft(rows), writes: [], open: true }
      const tx: StoreTx = {
        get db() {
          return tx
        },
      }
      known.set(tx, transaction)
      try {
        const value = await fn(tx)
        beforeCommit()
        commit(transaction)
        return value
      } finally {
        transaction.open = false
      }
    },
  }
}
