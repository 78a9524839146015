import { describe, expect, it } from 'vitest'
import { idOf } from './ids.ts'
import { joinPath, printable, toBytes, toName } from './names.ts'

describe('names', () => {
  it('are kept as text when they are UTF-8', () => {
    const bytes = Buffer.from('sub/ünï ☃ 文.md')
    expect(toName(bytes)).toEqual({ path: 'sub/ünï ☃ 文.md' })
    expect(toBytes(toName(bytes))).toEqual(bytes)
  })

  it('that are not UTF-8 are shown with escapes and keep their bytes', () => {
    const bytes = Buffer.from([0x61, 0xff, 0xc3, 0xbc, 0xed, 0xa0, 0x80])
    expect(toName(bytes).path).toBe('a\\xffü\\xed\\xa0\\x80')
    expect(toBytes(toName(bytes))).toEqual(bytes)
    expect(toName(bytes).path.isWellFormed()).toBe(true)
  })

  it('that look the same stay apart', () => {
    const escaped = toName(Buffer.from([0xff]))
    expect(escaped.path).toBe(toName(Buffer.from('\\xff')).path)
    expect(toBytes(escaped)).not.toEqual(toBytes(toName(Buffer.from('\\xff'))))
  })

  it('join with one slash', () => {
    const join = (a: string, b: string): string => joinPath(Buffer.from(a), Buffer.from(b)).toString()
    expect([join('a', 'b'), join('', 'b'), join('a', ''), join('/', 'b')]).toEqual(['a/b', 'b', 'a', '/b'])
  })

  it('cannot draw on the terminal', () => {
    expect(printable('a\nb\t\u001b[31m\u202e')).toBe('a\\nb\\t\\u{1b}[31m\\u{202e}')
    expect(printable('ünï ☃ 👩‍💻')).toBe('ünï ☃ 👩‍💻')
  })
})

describe('ids', () => {
  it('follow from their parts and have the form of a UUIDv8', () => {
    expect(idOf('run', 'a')).toBe(idOf('run', Buffer.from('a')))
    expect(idOf('run', 'a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('differ when the parts are divided otherwise', () => {
    expect(idOf('a', 'bc')).not.toBe(idOf('ab', 'c'))
    expect(idOf('a', '')).not.toBe(idOf('a'))
  })
})
