import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

const config = fileURLToPath(new URL('fixture/vitest.config.ts', import.meta.url))
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
let folder: string
let file: string

// Each test starts vitest, one of them three times, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'triphammer-table-'))
  file = join(folder, 'scenarios.txt')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly lines: readonly string[]
}

async function run(env: Readonly<Record<string, string>>, ...filters: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [vitest, 'run', '--config', config, ...filters], {
    env: { ...process.env, NO_COLOR: '1', TABLE_FILE: file, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = await text(child.stdout)
  return { code: await ended, lines: output.trimEnd().split('\n') }
}

const cells = (lines: readonly string[], tag: string): string | undefined =>
  lines
    .find((line) => line.startsWith(`${tag} `))
    ?.split(/ {2,}/)
    .slice(2)
    .join(', ')

it('writes the table, agrees with it, and fails when a row of it vanished', async () => {
  const written = await run({ TABLE_DIFFERENCE: 'update' })
  expect(written.code).toBe(0)
  expect(written.lines.at(-1)).toBe('2 passed, 0 failed, 1 skipped')
  expect(cells(written.lines, 'Q1')).toBe('pass, pass')
  expect(cells(written.lines, 'Q4')).toBe('absent results, not yet')

  const same = await run({ TABLE_DIFFERENCE: 'fail' })
  expect(same.code).toBe(0)

  writeFileSync(file, readFileSync(file, 'utf8').replace(/^Q1 .*\n/m, ''))
  const differs = await run({ TABLE_DIFFERENCE: 'fail' })
  expect(differs.code).toBe(1)
  expect(differs.lines.at(-1)).toBe('2 passed, 1 failed, 1 skipped')
  expect(differs.lines).toContainEqual(expect.stringMatching(/^\+ Q1 .*pass/))
})

it('fails without a checked-in table, and only tells of it where that was asked', async () => {
  expect((await run({ TABLE_DIFFERENCE: 'fail' })).code).toBe(1)
  expect((await run({ TABLE_DIFFERENCE: 'tell' })).code).toBe(0)
})

it('does not compare a run of some files', async () => {
  const part = await run({ TABLE_DIFFERENCE: 'fail' }, 'good')
  expect(part.code).toBe(0)
  expect(part.lines.at(-1)).toBe('1 passed, 0 failed, 1 skipped')
})

it('does not update the table from a run that failed; a failing hook fails the tests that it kept from running', async () => {
  writeFileSync(file, 'as it was\n')
  const broken = await run({ TABLE_DIFFERENCE: 'update', FIXTURE_BROKEN: '1' })
  expect(broken.code).toBe(1)
  expect(cells(broken.lines, 'Q1')).toBe('pass, FAIL')
  expect(broken.lines.at(-1)).toMatch(/^1 passed, [1-9]\d* failed, 1 skipped$/)
  expect(readFileSync(file, 'utf8')).toBe('as it was\n')
})
