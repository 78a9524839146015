import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Case } from '../bench/case.ts'
import { mustBe, quantile, showSpread } from '../bench/figures.ts'
import { judge, showVerdict } from '../bench/reach.ts'
import { asJson, asMarkdown, asText, type Report } from '../bench/report.ts'
import { alternate, type Side } from '../bench/sides.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

// The databases of the benchmark are made in a folder of the test's own.
const folder = mkdtempSync(join(tmpdir(), 'triphammer-tools-'))
afterAll(() => rmSync(folder, { recursive: true }))

// From Node 22 on the compiler keeps a cache in the folder; and Node 22 warns who loads its SQLite, as the bare loop does.
const quiet = { NODE_DISABLE_COMPILE_CACHE: '1', NODE_OPTIONS: '--disable-warning=ExperimentalWarning' }

function node(args: readonly string[], temporary: string = folder): Ran {
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: { ...process.env, ...quiet, TMPDIR: temporary } })
}
const bench = (...args: string[]): Ran => node(['bench/dist/main.js', ...args])

/** Everything numeric in it. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

// A whole run in processes of its own, on a machine that may be busy.
const PATIENCE = 300_000

describe(
  'the benchmark',
  () => {
    let ran: Ran
    let cases: Readonly<Record<string, unknown>>
    beforeAll(() => {
      expect(node(['node_modules/typescript/bin/tsc', '-b', 'bench'])).toMatchObject({ status: 0, stdout: '' })
      ran = bench('--quick', '--json')
      cases = ran.status === 0 ? (JSON.parse(ran.stdout) as { readonly cases: Readonly<Record<string, unknown>> }).cases : {}
    }, PATIENCE)

    it('ends well in its quick mode: every count adds up', () => {
      expect({ status: ran.status, problems: ran.stderr.split('\n').filter((line) => !/^(… .*)?$/.test(line)) }).toEqual({
        status: 0,
        problems: [],
      })
    })

    it('has measured every case that its help names', () => {
      const named = /^Cases: (.*)\.$/m.exec(bench('--help').stdout)?.[1]?.split(', ')
      expect(Object.keys(cases)).toEqual(named)
      for (const [name, raw] of Object.entries(cases)) expect({ name, numbers: numbersIn(raw).length }).not.toEqual({ name, numbers: 0 })
      expect(numbersIn(cases).filter((number) => !Number.isFinite(number) || number < 0)).toEqual([])
    })

    it('says under which conditions', () => {
      expect(JSON.parse(ran.stdout)).toMatchObject({
        quick: true,
        conditions: { node: process.version, journal: 'wal', synchronous: 'full', sqlite: expect.stringMatching(/^3\.\d+\.\d+$/) },
        load: { before: expect.any(Number), after: expect.any(Number) },
      })
    })

    it('leaves no files behind', () => {
      expect(readdirSync(folder)).toEqual([])
    })

    describe.each(['memory', 'sqlite'])('store: %s', (store) => {
      it('[W10] claims singly and in batches by hand, and with three kinds of worker, until all jobs are completed', () => {
        const { ways, library } = cases[`claims-${store}`] as {
          readonly ways: readonly { readonly batch: number; readonly concurrency?: number }[]
          readonly library: readonly (readonly { readonly claimed?: number; readonly done: number }[])[]
        }
        expect(ways.map(({ batch, concurrency }) => [batch, concurrency])).toEqual([
          ...[1, 10, 50, 100].map((batch) => [batch, undefined]),
          ...[
            [1, 1],
            [10, 1],
            [50, 10],
          ],
        ])
        for (const rates of library) {
          expect(rates.map(({ done }) => done > 0)).toEqual(ways.map(() => true))
          expect(rates.map(({ claimed }) => claimed !== undefined)).toEqual(ways.map(({ concurrency }) => concurrency === undefined))
        }
      })
    })

    it.each([
      [['--only', 'nothing'], 'there is no case nothing; there are enqueue-bulk, '],
      [['--json', '--markdown'], 'give --json or --markdown, not both'],
      [['--slow'], "Unknown option '--slow'"],
    ])('refuses %j with exit code 1', (args, problem) => {
      const { status, stdout, stderr } = bench(...args)
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toContain(`bench: ${problem}`)
    })

    it('fails with exit code 1 when it cannot measure, instead of printing what it has', () => {
      const { status, stdout, stderr } = node(['bench/dist/main.js', '--quick', '--only', 'drain'], '/nowhere')
      expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining('bench: ENOENT') })
    })
  },
  PATIENCE,
)

describe('figures', () => {
  it('are the median and the range of their rounds', () => {
    expect(showSpread([3_000, 1_000, 2_000])).toBe('2,000 (1,000–3,000)')
    expect(showSpread([2.345], 1)).toBe('2.3')
  })

  it.each([
    [0.5, 50],
    [0.95, 95],
    [1, 100],
    [0.001, 1],
  ])('the quantile %d of 1 to 100 is %d', (share, expected) => {
    const values = Array.from({ length: 100 }, (_, i) => 100 - i)
    expect(quantile(values, share)).toBe(expected)
  })

  it('stand beside their reach', () => {
    expect(showVerdict(judge(0.5, { atLeast: 0.5 }), 2)).toBe('≥ 0.50 met')
    expect(showVerdict(judge(0.49, { atLeast: 0.5 }), 2)).toBe('≥ 0.50 missed')
    expect(showVerdict(judge(50, { atMost: 50 }), 0)).toBe('≤ 50 met')
    expect(showVerdict(judge(51, { atMost: 50 }), 0)).toBe('≤ 50 missed')
  })

  it('are worth nothing when a count is wrong', () => {
    expect(() => mustBe('jobs', 49_999, 50_000)).toThrow('jobs: 49,999, and it must be 50,000')
    expect(() => mustBe('jobs', 50_000, 50_000)).not.toThrow()
  })
})

describe('rounds', () => {
  it('take turns, and who goes first changes', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {})
    const order: Side[] = []
    const sides = await alternate('in turn', 3, async (side) => order.push(side))
    expect(order).toEqual(['library', 'bare', 'bare', 'library', 'library', 'bare'])
    expect(sides).toEqual({ library: [1, 4, 5], bare: [2, 3, 6] })
    expect(said.mock.calls.flat()).toEqual([1, 2, 3].map((round) => `… in turn, round ${round} of 3`))
    said.mockRestore()
  })
})

describe('the report', () => {
  const table = { title: 'Speed', head: ['', 'jobs/s'] }
  const measured = (name: string, perSecond: string, note: string): Report['cases'][number] => {
    const one: Case = { name, table, run: async () => ({ rows: [], raw: {} }) }
    return { case: one, findings: { rows: [[name, perSecond]], notes: [note], raw: { perSecond } } }
  }
  const report: Report = {
    conditions: {
      ...{ takenAt: '2026-11-30T12:00:00.000Z', node: 'v24.1.0', driver: 'node:sqlite', sqlite: '3.50.0', cores: 2, cpu: 'a fast one' },
      ...{ memoryBytes: 8e9, system: 'Linux 6.1', fileSystem: 'ext4', journal: 'wal', synchronous: 'full' },
    },
    load: { before: 0.2, after: 1.8 },
    quick: false,
    cases: [measured('drain', '40,000', 'A note.'), measured('enqueue', '9', 'Another.')],
  }
  const conditions =
    '2026-11-30: Node 24.1.0, node:sqlite (SQLite 3.50.0), Linux 6.1; 2 cores (a fast one), 8 GB; ext4, journal_mode = wal, ' +
    'synchronous = full; load 0.2 at the start and 1.8 at the end.'

  it('is a section with a table of all cases that share it', () => {
    expect(asMarkdown(report).split('\n')).toEqual([
      ...['### node:sqlite, Node 24.1.0', '', conditions, ''],
      ...['#### Speed', '', '|  | jobs/s |', '| --- | --- |', '| drain | 40,000 |', '| enqueue | 9 |'],
      ...['', 'A note.', '', 'Another.'],
    ])
  })

  it('has aligned columns for people, and says of a smoke run that it is one', () => {
    const lines = asText({ ...report, quick: true }).split('\n')
    expect(lines[0]).toBe(`A smoke run: these figures mean nothing. ${conditions}`)
    expect(lines.slice(2)).toEqual([
      'Speed',
      '─'.repeat(15),
      '         jobs/s',
      'drain    40,000',
      'enqueue       9',
      'A note.',
      'Another.',
    ])
  })

  it('holds every round for programs', () => {
    expect(JSON.parse(asJson(report))).toMatchObject({
      conditions: { node: 'v24.1.0' },
      load: { before: 0.2 },
      cases: { drain: { perSecond: '40,000' }, enqueue: { perSecond: '9' } },
    })
  })
})
