import { describe, expect, it } from 'vitest'
import type { Run } from '../../src/store/types.ts'
import type { Ended } from '../../src/worker/claim.ts'
import { createOutbox } from '../../src/worker/outbox.ts'

function ended(id: string, token = 'a'): Ended {
  const lease = { id, token }
  const claim = { run: { id, lease } as Run, claimedAt: 0, renewedAt: 0, confirmedAt: 0, phase: 'ended' } as const
  return { claim, outcome: { lease, kind: 'completed' }, started: true, tries: 0 }
}

const idsOf = (batch: readonly Ended[]): string[] => batch.map(({ claim }) => claim.run.id)

function filled(...ids: string[]) {
  const outbox = createOutbox()
  for (const id of ids) outbox.push(ended(id))
  return outbox
}

describe('the outbox', () => {
  it('gives what has gathered, oldest first, once', () => {
    const outbox = filled('1', '2', '3')
    expect(idsOf(outbox.take())).toEqual(['1', '2', '3'])
    expect(outbox.take()).toEqual([])
  })

  it('gives at most one outcome of a job at a time', () => {
    const outbox = filled('1', '2')
    outbox.push(ended('1', 'b'))
    expect(outbox.take().map(({ outcome }) => outcome.lease)).toEqual([
      { id: '1', token: 'a' },
      { id: '2', token: 'a' },
    ])
    expect(outbox.take().map(({ outcome }) => outcome.lease)).toEqual([{ id: '1', token: 'b' }])
  })

  it('gives at most 500 at a time', () => {
    const outbox = filled(...Array.from({ length: 501 }, (_, n) => String(n)))
    expect(outbox.take()).toHaveLength(500)
    expect(idsOf(outbox.take())).toEqual(['500'])
  })

  it('gives first what was not answered', () => {
    const outbox = filled('1', '2')
    const batch = outbox.take()
    outbox.push(ended('3'))
    outbox.putBack(batch)
    expect(idsOf(outbox.take())).toEqual(['1', '2', '3'])
  })

  it('looks for a refused outcome one by one, gives it up after three tries, and then goes on as before', () => {
    const outbox = filled('bad', '2', '3', '4')
    expect(outbox.refused(outbox.take())).toEqual([])
    expect(outbox.isolating).toBe(true)
    for (const tries of [1, 2]) {
      const batch = outbox.take()
      expect(idsOf(batch)).toEqual(['bad'])
      expect(outbox.refused(batch)).toEqual([])
      expect(batch[0]!.tries).toBe(tries)
    }
    expect(idsOf(outbox.refused(outbox.take()))).toEqual(['bad'])
    expect(idsOf(outbox.take())).toEqual(['2'])
    outbox.answered()
    expect(outbox.isolating).toBe(false)
    expect(idsOf(outbox.take())).toEqual(['3', '4'])
  })
})
