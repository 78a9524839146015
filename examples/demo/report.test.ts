import type { Job } from 'triphammer'
import { describe, expect, it } from 'vitest'
import type { InspectedFile } from './inspect.ts'
import { printSummary } from './print.ts'
import { barLine, plainLine, type Sample } from './progress-line.ts'
import { buildReport, type Report, SHOWN, summarise } from './report.ts'
import { reportText } from './report-file.ts'
import { size, time } from './text.ts'

const AT = new Date('2026-01-01T00:00:00Z')
const plain = (_style: string, text: string): string => text

function job(path: string, more: Partial<Job>): Job {
  return {
    ...{ id: path, task: 'demo.index', queue: 'q', state: 'completed', priority: 0, attempt: 1, maxAttempts: 25 },
    ...{ createdAt: AT, runAt: AT, endedAt: new Date(AT.getTime() + 40), payload: { root: '/r', path } },
    ...more,
  }
}
function file(path: string, found: Partial<InspectedFile>, more: Partial<Job> = {}): Job {
  const result: InspectedFile = { kind: 'file', content: 'text', language: 'C', bytes: 10, lines: 2, sha256: 'x', ...found }
  return job(path, { result, ...more })
}
function report(jobs: readonly Job[]): Promise<Report> {
  return buildReport(
    { folder: '/r', excluded: ['.git'], run: { id: 'i', number: 1, startedAt: AT, finishedAt: new Date(AT.getTime() + 1_500) } },
    jobs,
  )
}

describe('the report', () => {
  const jobs = [
    file('b.c', {}),
    file('a/z.rs', { language: 'Rust', bytes: 30 }, { attempt: 2 }),
    file('empty.c', { content: 'empty', bytes: 0, lines: 0 }),
    file('Z.bin', { content: 'binary', language: 'Binary', bytes: 5, lines: 0 }),
    job('link', { result: { kind: 'skipped', reason: 'FIFO' } }),
    job('gone', { state: 'dead', attempt: 4, error: { name: 'Error', message: "ENOENT: no such file, lstat '/r/it's\ngone'" } }),
    job('off', { state: 'cancelled', error: { name: 'Cancelled', message: 'enough' } }),
    job('', { task: 'demo.scan', result: { found: 7 } }),
  ]

  it('has each entry once, sorted by code units, and the sums', async () => {
    const { files, skipped, failures, languages, totals, run } = await report(jobs)
    expect(files.map(({ path }) => path)).toEqual(['Z.bin', 'a/z.rs', 'b.c', 'empty.c'])
    expect(skipped).toEqual([{ path: 'link', reason: 'FIFO' }])
    expect(failures).toEqual([
      { path: 'gone', reason: 'ENOENT: no such file (lstat)', attempts: 4 },
      { path: 'off', reason: 'cancelled: enough', attempts: 1 },
    ])
    expect(languages).toEqual([
      { language: 'Rust', files: 1, lines: 2, bytes: 30 },
      { language: 'C', files: 2, lines: 2, bytes: 10 },
      { language: 'Binary', files: 1, lines: 0, bytes: 5 },
    ])
    expect(totals).toEqual({ files: 4, lines: 4, bytes: 45, binary: 1, empty: 1, skipped: 1, failed: 2 })
    expect(run).toMatchObject({ seconds: 1.5, retriedJobs: 2, latencyMs: { p50: 40, p99: 40 } })
  })

  it('is the same in whatever order the jobs come, apart from its times', async () => {
    expect(await report(jobs.toReversed())).toEqual(await report(jobs))
  })

  it('is written as JSON, an entry a line', async () => {
    const full = await report(jobs)
    const text = [...reportText(full)].join('')
    expect(JSON.parse(text)).toEqual(full)
    expect(text.split('\n').filter((line) => line.includes('"path"'))).toHaveLength(7)
    const empty = await report([])
    expect(JSON.parse([...reportText(empty)].join(''))).toEqual(empty)
  })

  it('of nothing is a report too', async () => {
    const empty = await report([])
    expect(empty).toMatchObject({ files: [], totals: { files: 0, bytes: 0 } })
    expect(empty.run.latencyMs).toBeUndefined()
    expect(printSummary(summarise(empty, '/r/report.json'), { width: 80, paint: plain })).toContain('0 entries')
  })
})

describe('what is printed', () => {
  const long = `${'very-long-folder/'.repeat(12)}文件-ünï.txt`

  it.each([40, 60, 80, 120])('fits %i columns', async (width) => {
    const jobs = Array.from({ length: SHOWN + 5 }, (_, i) => job(`${i}${long}\n`, { state: 'dead', error: { name: 'E', message: long } }))
    const full = await report([...jobs, file('a.c', { language: 'A language with a long name', bytes: 123_456_789, lines: 1_234_567 })])
    const text = printSummary(summarise(full, '/r'), { width, paint: plain })
    const lines = text.split('\n').filter((line) => width >= 60 || !/^(Run|From)/.test(line))
    for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(width)
    expect(text).toContain('and 5 more')
    expect(text).toContain('.txt\\n')
    expect(text).not.toContain('\u001b')
  })
})

describe('progress', () => {
  const sample: Sample = {
    ...{ elapsedMs: 12_340, done: 512, total: 2_048, scanning: true, perSecond: 1_234, elsewhere: 0, retrying: 0, stopping: false },
    latency: { p50: 12, p95: 999, p99: 1_900 },
  }

  it.each([20, 40, 79, 109])('fits %i columns', (width) => {
    const line = barLine(sample, width, plain)
    expect(line.length).toBeLessThanOrEqual(width)
    expect(line).toContain('25%')
  })

  it('shows everything where there is room', () => {
    const bar = '████████░░░░░░░░░░░░░░░░░░░░░░'
    expect(barLine(sample, 109, plain)).toBe(`${bar}   25%    512/2,048  1,234 jobs/s  scanning  p50 12 ms  p95 999 ms  p99 1.9 s`)
    expect(plainLine(sample)).toBe(' 12.3 s  512 of 2,048 files  1,234 jobs/s  p50 12 ms  p95 999 ms  p99 1.9 s  scanning')
  })

  it('says what it waits for', () => {
    expect(plainLine({ ...sample, elsewhere: 3 })).toContain('waiting for 3 jobs of another copy')
    expect(plainLine({ ...sample, retrying: 1 })).toContain('waiting to try 1 file again')
    expect(plainLine({ ...sample, stopping: true, elsewhere: 3 })).toContain('stopping')
  })

  it('is empty and not full while nothing is known', () => {
    expect(barLine({ ...sample, done: 0, total: 0 }, 79, plain)).toMatch(/^░+ {4}0%/)
  })
})

describe('quantities', () => {
  it('are shown in the unit that suits them', () => {
    expect([0, 999, 1_000, 999_949, 999_950, 1.5e9].map(size)).toEqual(['0 B', '999 B', '1.0 kB', '999.9 kB', '1.0 MB', '1.5 GB'])
    expect([0, 999, 1_000, 59_940, 59_960, 125_000].map(time)).toEqual(['0 ms', '999 ms', '1.0 s', '59.9 s', '1 min 0 s', '2 min 5 s'])
  })
})
