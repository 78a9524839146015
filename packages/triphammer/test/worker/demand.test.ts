import { describe, expect, it } from 'vitest'
import { type DemandState, demandOf } from '../../src/worker/demand.ts'

const queue = { name: 'default', concurrency: 4, prefetch: 40 }
const demand = (state: Partial<DemandState>): number =>
  demandOf(queue, { claimed: 0, held: 0, running: 0, wanted: false, recentStarts: 0, ...state })

describe('the demand of a queue', () => {
  it('is all of its prefetch when it has nothing', () => {
    expect(demand({})).toBe(40)
  })

  it('is nothing while more than half of the prefetch is in hand and no handler stands idle', () => {
    expect(demand({ claimed: 21, held: 17, running: 4 })).toBe(0)
    expect(demand({ claimed: 20, held: 16, running: 4 })).toBe(20)
  })

  it('is what fits as soon as a handler stands idle', () => {
    expect(demand({ claimed: 39, held: 0, running: 3 })).toBe(1)
    expect(demand({ claimed: 39, held: 0, running: 4 })).toBe(0)
  })

  it('is never below zero', () => {
    expect(demand({ claimed: 45, running: 3 })).toBe(0)
    expect(demand({ claimed: 40, running: 3, wanted: true })).toBe(0)
  })

  it('is no more than starts within a second while another worker stands idle', () => {
    expect(demand({ wanted: true })).toBe(4)
    expect(demand({ wanted: true, recentStarts: 10 })).toBe(14)
    expect(demand({ wanted: true, recentStarts: 1_000 })).toBe(40)
    expect(demand({ wanted: true, claimed: 4, running: 4, recentStarts: 10 })).toBe(0)
  })
})
