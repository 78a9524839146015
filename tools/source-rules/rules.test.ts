import { describe, expect, it } from 'vitest'
import { checkSource, MAX_FUNCTION_LINES, MAX_LINES } from './rules.ts'

const problems = (file: string, text: string): string[] =>
  checkSource(file, text).map(({ line, problem }) => `${line} ${problem.split(':')[0]}`)

describe('time, randomness and the environment', () => {
  it.each([
    ['const t = Date.now()', 'Date.now'],
    ['const t = new Date()', 'new Date()'],
    ['const t = new Date', 'new Date()'],
    ['const t = Date()', 'Date()'],
    ['setTimeout(go, 5)', 'setTimeout'],
    ['globalThis.setTimeout(go, 5)', 'setTimeout'],
    ['const later = setInterval', 'setInterval'],
    ['performance.now()', 'performance'],
    ['const r = Math.random()', 'Math.random'],
    ['const id = crypto.randomUUID()', 'crypto.randomUUID'],
    ['const url = process.env.URL', 'process.env'],
    ["import { setTimeout as wait } from 'node:timers/promises'", "import from 'node"],
    ["import { randomUUID } from 'node:crypto'", 'randomUUID'],
  ])('%s is found in a worker file', (text, what) => {
    expect(problems('worker/fetcher.ts', text)).toContain(`1 ${what}`)
  })

  it.each([
    'const t = new Date(ms)',
    'const t = Date.UTC(2026, 0, 1)',
    'let handle: ReturnType<typeof setTimeout>',
    'interface Options { readonly performance: number }',
    'const o = { performance: 1 }',
    'run.performance',
    "import { createHash } from 'node:crypto'",
    '// setTimeout(go, 5) and Date.now() in a comment',
    "const text = 'setTimeout'",
  ])('%s is allowed', (text) => {
    expect(problems('worker/fetcher.ts', text)).toEqual([])
  })

  it.each(['core/clock.ts', 'core/ids.ts', 'cli/main.ts', 'worker/shutdown.ts'])('%s may use the machine', (file) => {
    expect(problems(file, 'setTimeout(go, Math.random() * Date.now())')).toEqual([])
  })

  it('names the line', () => {
    expect(problems('client/client.ts', 'const a = 1\n\nconst t = Date.now()\n')).toEqual(['3 Date.now'])
  })
})

describe('SQL', () => {
  it.each([
    '`select id from jobs where id = ${id}`',
    '`\n  update ${table} set state = 1`',
    "'insert into jobs values (1)'",
    "'INSERT OR IGNORE INTO jobs VALUES (1)'",
    "'delete from jobs'",
    "'create table t (a)'",
    "'create unique index i on t (a)'",
    "'pragma journal_mode = wal'",
    "'begin immediate'",
    "'COMMIT;'",
    "'rollback to here'",
    "'savepoint here'",
    '`with picked as (select 1) select * from picked`',
  ])('%s is found in a client file, and not in a store', (text) => {
    expect(problems('client/client.ts', `const q = ${text}`)).toHaveLength(1)
    expect(problems('stores/sqlite/claim.ts', `const q = ${text}`)).toEqual([])
    expect(problems('sql/migrate.ts', `const q = ${text}`)).toEqual([])
  })

  it.each([
    "'select the jobs that you want'",
    "'update it with jobs.reschedule'",
    "'with a lease'",
    "'create a table first'",
    "'commit the transaction'",
    "'begin a transaction first'",
    "'commit'",
    "'rollback'",
  ])('%s is a sentence', (text) => {
    expect(problems('client/client.ts', `const q = ${text}`)).toEqual([])
  })
})

describe('length', () => {
  it('allows the limit and refuses one line more', () => {
    expect(problems('core/long.ts', 'a\n'.repeat(MAX_LINES))).toEqual([])
    expect(problems('core/long.ts', 'a\n'.repeat(MAX_LINES + 1))).toHaveLength(1)
  })

  it('allows a function of the limit, refuses one line more, and does not count the functions inside it', () => {
    const body = (lines: number): string => 'go()\n'.repeat(lines)
    const outer = (lines: number, inner = ''): string => `function make() {\n${body(lines - 2)}${inner}}\n`
    expect(problems('core/long.ts', outer(MAX_FUNCTION_LINES))).toEqual([])
    expect(problems('core/long.ts', outer(MAX_FUNCTION_LINES + 1))).toEqual(['1 is a function of 51 lines; 50 is the limit'])
    expect(problems('core/long.ts', outer(MAX_FUNCTION_LINES, `const part = () => {\n${body(40)}}\n`))).toEqual([])
  })
})
