import { describe, expect, it } from 'vitest'
import { clientOn } from '../../src/client/client.ts'
import type { Logger } from '../../src/core/logger.ts'
import { parseLogger } from '../../src/core/logger.ts'
import { defineTask } from '../../src/core/task.ts'
import { combineGates, type Gate } from '../../src/extend/gate.ts'
import { memory } from '../../src/memory.ts'

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

describe('what others bring is guarded', () => {
  it('a logger without a method is refused, one that throws is harmless', () => {
    expect(() => clientOn({ store: memory(), logger: { info: () => {} } as unknown as Logger })).toThrow(
      /logger must be false or have debug/,
    )
    const throwing = { ...silent, error: () => expect.unreachable() as never }
    expect(() => parseLogger({ ...throwing, warn: () => JSON.parse('{') }, 'test').warn({}, 'x')).not.toThrow()
  })

  it('a logger keeps its own this', () => {
    class Kept {
      lines: string[] = []
      debug(): void {}
      info(): void {}
      error(): void {}
      warn(_: object, message: string): void {
        this.lines.push(message)
      }
    }
    const logger = new Kept()
    parseLogger(logger, 'test').warn({}, 'heard')
    expect(logger.lines).toEqual(['heard'])
  })

  it('an unknown event and an observer that is none are refused', () => {
    const jobs = clientOn({ store: memory() })
    expect(() => jobs.on('job.done' as 'job.dead', () => {})).toThrow(/no event "job\.done"; there are job\.enqueued/)
    expect(() => jobs.on('job.dead', undefined as never)).toThrow(/not a function/)
  })

  it('options of an empty list of payloads are checked', async () => {
    const jobs = clientOn({ store: memory() })
    await expect(jobs.enqueueMany(defineTask('t'), [], { dely: '5m' } as object)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
  })

  it('a reason over 2,000 characters is refused', async () => {
    const jobs = clientOn({ store: memory() })
    await expect(jobs.pause('q', { reason: 'x'.repeat(2_001) })).rejects.toThrow(/reason has 2001 characters/)
    await expect(jobs.pause('q', { reason: 'x'.repeat(2_000) })).resolves.toMatchObject({ name: 'q' })
  })
})

describe('gates', () => {
  const gateOf = (take: Gate['take']): Gate & { readonly refunds: number[] } => {
    const refunds: number[] = []
    return { name: 'gate', take, refund: (_, count) => void refunds.push(count), refunds }
  }

  it('what a later gate denies goes back to the earlier ones', () => {
    const first = gateOf((_, want) => ({ granted: want }))
    const second = gateOf(() => ({ granted: 3, retryInMs: 50 }))
    expect(combineGates([first, second], silent).take('q', 10)).toEqual({ granted: 3, retryInMs: 50 })
    expect(first.refunds).toEqual([7])
    expect(second.refunds).toEqual([])
  })

  it.each([
    ['throws', () => expect.unreachable() as never],
    ['grants too much', () => ({ granted: 11 })],
    ['grants half a job', () => ({ granted: 0.5 })],
    ['grants nothing known', () => ({ granted: Number.NaN })],
  ])('a gate that %s lets nothing through, and what others granted goes back', (_, take) => {
    const errors: string[] = []
    const log = { ...silent, error: (_fields: object, message: string) => void errors.push(message) }
    const first = gateOf((_queue, want) => ({ granted: want }))
    expect(combineGates([first, gateOf(take)], log).take('q', 10)).toEqual({ granted: 0 })
    expect(first.refunds).toEqual([10])
    expect(errors).toHaveLength(1)
  })
})
