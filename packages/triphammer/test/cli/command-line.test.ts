import { describe, expect, it } from 'vitest'
import { memory } from '../../src/memory.ts'
import { triphammer } from './command.ts'

const HOSTILE = '\u001b[2J\u009b1m\u202e'

describe('what a terminal is shown', () => {
  it('of a command line that cannot be parsed holds no control character', async () => {
    for (const argv of [['queues', 'list', `--x${HOSTILE}`], [HOSTILE], ['queues', HOSTILE], ['queues', 'list', HOSTILE]]) {
      const { code, out, err } = await triphammer(argv)
      expect([code, out]).toEqual([2, ''])
      expect(err).toMatch(/^error: .*\n/)
      expect(err).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
    }
  })

  it('with --json is the same value, and none of it acts on a terminal', async () => {
    const store = memory()
    const name = `${HOSTILE}\u{e0001}\u007f`
    const { code, out, json } = await triphammer(['queues', 'pause', '--json', '--', name], { store })
    expect(code).toBe(0)
    expect(json<{ name: string }>().name).toBe(name)
    expect(out).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  })
})

describe('an error with --json', () => {
  it('is JSON, also where the command line cannot be parsed', async () => {
    const { code, out, err } = await triphammer(['queues', 'lits', '--json'])
    expect([code, out]).toEqual([2, ''])
    expect(JSON.parse(err)).toEqual({ error: { code: 'USAGE', message: expect.stringContaining("unknown command 'lits'") } })
  })

  it('is asked for by the option and not by an argument', async () => {
    const { code, err } = await triphammer(['queues', 'pause', '--', '--json', 'two'])
    expect(code).toBe(2)
    expect(err).toMatch(/^error: too many arguments/)
  })
})
