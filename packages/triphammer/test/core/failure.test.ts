import { describe, expect, it } from 'vitest'
import { isTriphammerError, TriphammerError } from '../../src/core/errors.ts'
import { cancelFailure, toFailure } from '../../src/core/failure.ts'

describe('a failure', () => {
  it('is an error as plain data', () => {
    const error = Object.assign(new TypeError('boom'), { code: 'E_BOOM' })
    expect(toFailure(error)).toEqual({ name: 'TypeError', message: 'boom', code: 'E_BOOM', stack: error.stack })
    expect(toFailure(Object.assign(new Error('x'), { code: 7 }))).not.toHaveProperty('code')
  })

  it.each<readonly [unknown, string]>([
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    [{ a: 1 }, '{"a":1}'],
    [Object.assign([1n], {}), '[object Array]'],
  ])('of something else that was thrown has its text', (thrown, message) => {
    expect(toFailure(thrown)).toEqual({ name: 'Error', message })
  })

  it('is cut and repaired, so that every store can hold it', () => {
    const failure = toFailure(Object.assign(new Error(`\u0000${'x'.repeat(10_000)}`), { name: 'A\ud800', code: 'c'.repeat(200) }))
    expect(failure.message.length).toBeLessThanOrEqual(8_193)
    expect(failure.message.startsWith('\ufffd')).toBe(true)
    expect(failure.name).toBe('A\ufffd')
    expect(failure.code!.length).toBeLessThanOrEqual(129)
  })

  it('cut in the middle of a character is still text', () => {
    expect(toFailure(new Error(`${'x'.repeat(8_191)}🚂🚂`)).message.isWellFormed()).toBe(true)
  })

  it('of a cancel has the reason', () => {
    expect(cancelFailure('obsolete')).toEqual({ name: 'Cancelled', code: 'CANCELLED', message: 'obsolete' })
    expect(cancelFailure().message).toBe('the job was cancelled')
  })
})

describe('isTriphammerError', () => {
  it('knows ours, by code if one is given', () => {
    const cause = new Error('beneath')
    const error = new TriphammerError('STORE_BUSY', 'busy', { cause })
    expect(error).toMatchObject({ name: 'TriphammerError', code: 'STORE_BUSY', message: 'busy', cause })
    expect(isTriphammerError(error)).toBe(true)
    expect(isTriphammerError(error, 'STORE_BUSY')).toBe(true)
    expect(isTriphammerError(error, 'STORE_CLOSED')).toBe(false)
  })

  it('knows those of another copy of the library, and nothing else', () => {
    const foreign = Object.assign(new Error('theirs'), { code: 'STORE_BUSY', [Symbol.for('triphammer.error')]: true })
    expect(isTriphammerError(foreign, 'STORE_BUSY')).toBe(true)
    for (const other of [undefined, null, 'x', new Error('x'), { code: 'STORE_BUSY' }]) expect(isTriphammerError(other)).toBe(false)
  })
})
