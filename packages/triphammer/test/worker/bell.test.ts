import { describe, expect, it } from 'vitest'
import { manualClock } from '../../src/core/manual-clock.ts'
import { createBell } from '../../src/worker/bell.ts'

function waiting(ms?: number) {
  const clock = manualClock()
  const bell = createBell(clock)
  const state = { woken: 0 }
  const wait = (): void => void bell.wait(ms).then(() => state.woken++)
  return { clock, bell, state, wait }
}

describe('the bell', () => {
  it('wakes who waits', async () => {
    const { bell, state, wait, clock } = waiting()
    wait()
    await clock.advance('1h')
    expect(state.woken).toBe(0)
    bell.ring()
    await clock.advance(0)
    expect(state.woken).toBe(1)
  })

  it('wakes after its time', async () => {
    const { state, wait, clock } = waiting(100)
    wait()
    await clock.advance(99)
    expect(state.woken).toBe(0)
    await clock.advance(1)
    expect(state.woken).toBe(1)
  })

  it('keeps one ring for the next wait, and not one for a wait that it has ended', async () => {
    const { bell, state, wait, clock } = waiting()
    bell.ring()
    bell.ring()
    wait()
    await clock.advance(0)
    expect(state.woken).toBe(1)
    wait()
    await clock.advance('1h')
    expect(state.woken).toBe(1)
    bell.ring()
    await clock.advance(0)
    wait()
    await clock.advance('1h')
    expect(state.woken).toBe(2)
  })

  it('leaves no time running that would end a later wait', async () => {
    const { bell, state, wait, clock } = waiting(100)
    wait()
    bell.ring()
    await clock.advance(50)
    expect(state.woken).toBe(1)
    wait()
    await clock.advance(60) // the first wait would have ended here
    expect(state.woken).toBe(1)
    await clock.advance(40)
    expect(state.woken).toBe(2)
  })
})
