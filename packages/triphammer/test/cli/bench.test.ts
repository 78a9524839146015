import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { triphammer } from './command.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'triphammer-cli-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

interface Told {
  readonly rates: readonly { readonly what: string; readonly jobs: number; readonly perSecond: number }[]
  readonly pickUp: { readonly jobs: number; readonly p50: number; readonly p95: number; readonly most: number }
  readonly conditions: { readonly folder: string; readonly synchronous: string; readonly node: string }
}

describe('triphammer bench', () => {
  it('measures on a database of its own, and leaves nothing behind', async () => {
    const told = await triphammer(['bench', '--jobs', '1000', '--json', '--store', 'sqlite:jobs.db?synchronous=normal'], { cwd })
    expect(told.code).toBe(0)
    const { rates, pickUp, conditions } = told.json<Told>()
    expect(rates.map(({ jobs }) => jobs)).toEqual([1_000, 1_000, 1_000, 200])
    for (const { perSecond } of rates) expect(perSecond).toBeGreaterThan(0)
    expect(pickUp.p50).toBeLessThanOrEqual(pickUp.p95)
    expect(pickUp.p95).toBeLessThanOrEqual(pickUp.most)
    expect(conditions).toMatchObject({ folder: cwd, synchronous: 'normal', node: process.version })
    expect(readdirSync(cwd)).toEqual([])
  })

  it('shows figures and their conditions', async () => {
    const told = await triphammer(['bench', '--jobs', '1000', '--folder', cwd])
    expect(told.code).toBe(0)
    expect(told.out).toMatch(/^WHAT +JOBS +JOBS\/S\nenqueue, 1,000 in a call +1,000 +[\d,]+\n/)
    expect(told.out).toMatch(/p50 [\d.]+ ms, p95 [\d.]+ ms, most [\d.]+ ms, of 50 jobs/)
    expect(told.out).toContain(`SQLite in ${cwd}, synchronous full, ${process.version}`)
  })

  it('ends when it is asked to, and removes its database', async () => {
    const told = await triphammer(['bench', '--jobs', '1000'], {
      cwd,
      onSignal: (heard) => {
        heard()
        return () => {}
      },
    })
    expect(told).toMatchObject({ code: 1, out: '', err: expect.stringContaining('the measurement was ended') })
    expect(readdirSync(cwd)).toEqual([])
  })

  it.each([['0'], ['999'], ['1000001'], ['many'], ['-5']])('refuses %s jobs', async (jobs) => {
    expect(await triphammer(['bench', `--jobs=${jobs}`], { cwd })).toMatchObject({ code: 2, out: '' })
  })
})
