import { describe, expect, it } from 'vitest'
import { createLines, type Lines, type LinesOptions } from '../../src/cli/lines.ts'
import { manualClock } from '../../src/core/manual-clock.ts'

function written(options: {
  readonly json?: boolean
  readonly verbose?: boolean
  readonly number?: number
}): Lines & { readonly text: string[] } {
  const text: string[] = []
  const world: LinesOptions['world'] = {
    clock: manualClock(),
    out: (line) => void text.push(`out ${line}`),
    err: (line) => void text.push(`err ${line}`),
    ...(options.number === undefined ? {} : { child: { number: options.number, up: () => {} } }),
  }
  return { text, ...createLines({ world, json: options.json ?? false, verbose: options.verbose ?? false }) }
}

const AT = '2026-01-01T00:00:00.000Z'

describe('lines for people', () => {
  it('have a date, and the number of the process where there are several', () => {
    const { tell, log, text } = written({ number: 3 })
    tell('started', { pid: 1 }, 'started, process 1')
    log.warn({}, 'careful')
    expect(text).toEqual([`out [3] ${AT} started, process 1\n`, `err [3] ${AT} warn  careful\n`])
  })

  it('show what is logged in one line, whatever it is, and stacks only if they are asked for', () => {
    const error = Object.assign(new Error('no such\nthing \u001b[2J'), { stack: 'Error: here\n    at \u001b[2Jthere' })
    const fields = {
      job: 'a-b',
      text: 'two words',
      n: 5,
      list: [1, { a: 2 }],
      gone: undefined,
      big: 5n,
      error,
      'odd\u202ename': 'x'.repeat(500),
    }
    const quiet = written({})
    quiet.log.error(fields, 'it\u0007 failed')
    expect(quiet.text).toEqual([
      `err ${AT} error it\\u0007 failed  job=a-b text="two words" n=5 list="[1,{"a":2}]" big=5 error="Error: no such\\u000athing \\u001b[2J" odd\\u202ename="${'x'.repeat(400)}…"\n`,
    ])
    const verbose = written({ verbose: true })
    verbose.log.error({ error }, 'it failed')
    expect(verbose.text).toEqual([
      `err ${AT} error it failed  error="Error: no such\\u000athing \\u001b[2J"\nError: here\n    at \\u001b[2Jthere\n`,
    ])
  })

  it('leave debugging out unless it is asked for', () => {
    const quiet = written({})
    quiet.log.debug({}, 'details')
    quiet.log.info({}, 'news')
    expect(quiet.text).toEqual([`err ${AT} info  news\n`])
    const verbose = written({ verbose: true })
    verbose.log.debug({}, 'details')
    expect(verbose.text).toEqual([`err ${AT} debug details\n`])
  })
})

describe('lines for programs', () => {
  const parsed = ({ text }: { readonly text: readonly string[] }): unknown[] => text.map((line) => JSON.parse(line.slice(4)))

  it('are objects, one to a line; no field stands for what the line itself says', () => {
    const lines = written({ json: true, number: 2 })
    lines.tell('job.dead', { job: { id: 'x' }, at: 5, event: 'mine' }, 'not shown')
    lines.log.info({ level: 'mine', message: 'mine', process: 'mine', a: 1 }, 'news\nof two lines')
    expect(lines.text.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(parsed(lines)).toEqual([
      { at: AT, process: 2, event: 'job.dead', job: { id: 'x' } },
      { at: AT, process: 2, level: 'info', message: 'news\nof two lines', a: 1 },
    ])
  })

  it('hold errors with their stacks, and something of whatever is no JSON', () => {
    const lines = written({ json: true })
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const error = Object.assign(new TypeError('bad'), { code: 'E_BAD', stack: 'the stack' })
    lines.log.warn({ error, circle, big: 5n, fn: () => {} }, 'odd')
    expect(parsed(lines)).toEqual([
      {
        ...{ at: AT, level: 'warn', message: 'odd', circle: '[object Object]', big: '5', fn: null },
        error: { name: 'TypeError', message: 'bad', code: 'E_BAD', stack: 'the stack' },
      },
    ])
  })

  it('tell no secrets', () => {
    const lines = written({ json: true })
    lines.tell('x', { error: { message: 'postgres://ada:hunter2@db/x is away' } }, '')
    expect(lines.text.join('')).not.toContain('hunter2')
  })
})
