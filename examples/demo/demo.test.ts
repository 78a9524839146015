import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient, type Job } from 'triphammer'
import { sqlite } from 'triphammer/sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import type { Report, ReportedFile } from './report.ts'
import { eachJob } from './runs.ts'
import { indexEntry } from './tasks.ts'
import { runDemo, startDemo } from './test/demo-process.ts'
import { growManyFiles, growOddTree, tempFolder } from './test/odd-tree.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})
function folder(): string {
  const made = tempFolder()
  folders.push(made)
  return made
}

const readReport = (cwd: string): Report => JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8'))
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A superuser may read everything: what is unreadable is tried as nobody. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534 } : {}

async function indexJobs(cwd: string): Promise<Job[]> {
  await using jobs = createClient({ store: sqlite(join(cwd, '.triphammer', 'demo.db')) })
  const found: Job[] = []
  for await (const job of eachJob(jobs, { task: indexEntry })) found.push(job)
  return found
}

async function eachQueue(cwd: string, act: (client: Client, queue: string) => Promise<unknown>): Promise<void> {
  await using client = createClient({ store: sqlite(join(cwd, '.triphammer', 'demo.db')) })
  for (const { name } of await client.queues()) await act(client, name)
}

/** Each file once, sorted, with its right sum. */
function expectAll(files: readonly ReportedFile[], count: number): void {
  const expected = Array.from({ length: count }, (_, i) => [`d${Math.floor(i / 100)}/f${i}.txt`, sha256(String(i))])
  expect(files.map(({ path, sha256: sum }) => [path, sum])).toEqual(expected.sort(([a], [b]) => (a! < b! ? -1 : 1)))
}

// Children are real processes that share the machine with the rest of the suite.
const PATIENCE = { timeout: 120_000 }

describe('the demo', PATIENCE, () => {
  it('indexes everything odd that a folder can hold', async () => {
    const [root, cwd] = [folder(), folder()]
    for (const made of [root, cwd]) chmodSync(made, 0o777)
    const socket = await growOddTree(root)
    writeFileSync(join(root, 'secret\u001b[31m.txt'), 'x', { mode: 0o000 })
    mkdirSync(join(root, 'closed'), { mode: 0o000 })
    const { code, stdout, stderr } = await runDemo(cwd, { args: [root], ...nobody })
    socket.close()

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const report = readReport(cwd)
    expect(report.files.map(({ path, content }) => [path, content])).toEqual([
      ['empty.py', 'empty'],
      ['large.dat', 'binary'],
      ['new\nline "quoted" \u001b[31m.txt', 'text'],
      ['stray-\\xff\\xfd.txt', 'text'],
      ['stray-\\xff\\xfe.txt', 'text'],
      ['sub/deep/Makefile', 'text'],
      ['sub/ünï ☃ 文.json', 'text'],
      ['three.ts', 'text'],
      ['unended.md', 'text'],
      ['zeros.bin', 'binary'],
    ])
    expect(report.skipped.map(({ path }) => path)).toEqual(['dangling', 'fifo', 'self', 'socket', 'sub/deep/up', 'to-file', 'to-folder'])
    expect(report.failures).toEqual([
      { path: 'closed', reason: 'EACCES: permission denied (scandir)', attempts: 4 },
      { path: 'secret\u001b[31m.txt', reason: 'EACCES: permission denied (open)', attempts: 4 },
    ])
    expect(report.totals).toMatchObject({ files: 10, binary: 2, empty: 1, skipped: 7, failed: 2 })
    expect(report.run).toMatchObject({ number: 1, retriedJobs: 2 })
    expect(stdout).toContain('symbolic link, loops back to a folder above')
    expect(stdout).toContain('EACCES: permission denied (open), 4 attempts')
    // A name cannot draw on the terminal.
    expect(stdout).toContain('secret\\u{1b}[31m.txt')
    expect(stdout).not.toContain('\u001b')
  })

  it('shows its first finished job within 5 s of its start', async () => {
    const [root, cwd] = [folder(), folder()]
    growManyFiles(root, 1_000)
    const from = performance.now()
    const demo = startDemo(cwd, { args: [root] })
    await demo.saw(/[1-9]\d* of .* files/)
    expect(performance.now() - from).toBeLessThan(5_000)
    expect((await demo.exit).code).toBe(0)
  })

  it('goes on after kill -9 where it stopped, and indexes nothing twice', async () => {
    const [root, cwd] = [folder(), folder()]
    growManyFiles(root, 3_000)
    const first = startDemo(cwd, { args: [root] })
    await first.saw(/[1-9]\d* of .* files/)
    first.child.kill('SIGKILL')
    expect(await first.exit).toMatchObject({ code: null, signal: 'SIGKILL' })
    const before = (await indexJobs(cwd)).filter(({ state }) => state === 'completed')
    expect(before.length).toBeGreaterThan(0)
    expect(before.length).toBeLessThan(3_000)
    expect(existsSync(join(cwd, 'report.json'))).toBe(false)

    const { code, stdout } = await runDemo(cwd, { args: [root] })
    expect(code).toBe(0)
    expect(stdout).toContain('Going on with run 1')
    expectAll(readReport(cwd).files, 3_000)
    const after = new Map((await indexJobs(cwd)).map((job) => [job.id, job]))
    expect(after.size).toBe(3_000)
    expect(before.map(({ id }) => after.get(id))).toEqual(before)
  })

  it('shares the work between two copies that are started at once', async () => {
    const [root, cwd] = [folder(), folder()]
    growManyFiles(root, 1_500)
    const [one, two] = await Promise.all([runDemo(cwd, { args: [root] }), runDemo(cwd, { args: [root] })])
    expect([one.code, two.code, one.stderr, two.stderr]).toEqual([0, 0, '', ''])
    // Percentiles are those of a copy's own jobs: both have worked.
    for (const { stdout } of [one, two]) expect(stdout).toMatch(/\d+ of .* files .* p50 /)
    expect(one.stdout.slice(one.stdout.indexOf('┌'))).toBe(two.stdout.slice(two.stdout.indexOf('┌')))
    expectAll(readReport(cwd).files, 1_500)
    expect(readReport(cwd).run).toMatchObject({ number: 1, retriedJobs: 0 })
    expect((await indexJobs(cwd)).every(({ attempt }) => attempt === 1)).toBe(true)
  })

  it('stops gracefully on a signal and says how to go on', async () => {
    const [root, cwd] = [folder(), folder()]
    growManyFiles(root, 2_000)
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const demo = startDemo(cwd, { args: [root] })
      await demo.saw(/[1-9]\d* of .* files/)
      demo.child.kill(signal)
      const exit = await demo.exit
      expect(exit).toMatchObject({ code, signal: null, stderr: '' })
      expect(exit.stdout).toContain('run the same command again to go on')
      // Nothing is left to wait for: what had not started was given back, no attempt counted.
      const jobs = await indexJobs(cwd)
      expect(jobs.filter(({ state }) => state === 'running')).toEqual([])
      expect(jobs.filter(({ state, attempt }) => state === 'pending' && attempt > 0)).toEqual([])
      // The second copy has less to do, and must not be done before its signal comes.
      await eachQueue(cwd, (client, queue) => client.pause(queue))
    }
    await eachQueue(cwd, (client, queue) => client.resume(queue))
    expect((await runDemo(cwd, { args: [root] })).code).toBe(0)
    expectAll(readReport(cwd).files, 2_000)
    expect(readReport(cwd).run.retriedJobs).toBe(0)
  })

  it('begins a new run after a report, forgets the run before, and comes to the same', async () => {
    const [root, cwd] = [folder(), folder()]
    growManyFiles(root, 20)
    await runDemo(cwd, { args: [root] })
    const { run: firstRun, ...first } = readReport(cwd)
    await runDemo(cwd, { args: [root] })
    const { run: secondRun, ...second } = readReport(cwd)
    expect(second).toEqual(first)
    expect([firstRun.number, secondRun.number]).toEqual([1, 2])
    expect(secondRun.id).not.toBe(firstRun.id)
    expect(await indexJobs(cwd)).toHaveLength(20)
  })

  it('indexes its own current folder without its report and its state', async () => {
    const cwd = folder()
    writeFileSync(join(cwd, 'a.txt'), 'a')
    for (let run = 1; run <= 2; run++) {
      expect((await runDemo(cwd, { args: ['.'] })).code).toBe(0)
      expect(readReport(cwd).files.map(({ path }) => path)).toEqual(['a.txt'])
    }
  })

  it('tries a failed run again', async () => {
    const [root, cwd] = [folder(), folder()]
    growManyFiles(root, 3_000)
    const demo = startDemo(cwd, { args: [root] })
    await demo.saw(/[1-9]\d* of .* files/)
    mkdirSync(join(cwd, 'report.json')) // in the way of the report
    const failed = await demo.exit
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('the run failed (dead)')
    rmSync(join(cwd, 'report.json'), { recursive: true })
    expect((await runDemo(cwd, { args: [root] })).code).toBe(0)
    expectAll(readReport(cwd).files, 3_000)
  })
})

describe('the command line', PATIENCE, () => {
  it('refuses what makes no sense, with exit code 2 and without a trace', async () => {
    const cwd = folder()
    writeFileSync(join(cwd, 'file'), '')
    const refused = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runDemo(cwd, { args })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr.trim().split('\n')).toHaveLength(1)
      return stderr
    }
    expect(await refused('missing')).toContain('there is no folder missing')
    expect(await refused('file')).toContain('file is not a folder')
    expect(await refused('--fast')).toContain("Unknown option '--fast'")
    expect(await refused('.', '..')).toContain('one folder at a time')
    expect(await refused('')).toContain('empty')
    expect(existsSync(join(cwd, '.triphammer'))).toBe(false)
    mkdirSync(join(cwd, 'report.json'))
    expect(await refused('.')).toContain('report.json is a folder')
  })

  it('refuses a current folder that it may not write to', async () => {
    const [root, cwd] = [folder(), folder()]
    chmodSync(root, 0o755)
    chmodSync(cwd, 0o555)
    const { code, stderr } = await runDemo(cwd, { args: [root], ...nobody })
    expect(code).toBe(2)
    expect(stderr).toContain(`report.json cannot be written into ${cwd} (EACCES)`)
  })

  it('works in the folder where npm was called', async () => {
    const [cwd, called] = [folder(), folder()]
    writeFileSync(join(called, 'a.txt'), 'a')
    const { code } = await runDemo(cwd, { args: ['.'], env: { npm_lifecycle_event: 'demo', INIT_CWD: called } })
    expect(code).toBe(0)
    expect(readReport(called).files.map(({ path }) => path)).toEqual(['a.txt'])
    expect(existsSync(join(cwd, '.triphammer'))).toBe(false)
  })

  it('says when its state is no database', async () => {
    const cwd = folder()
    mkdirSync(join(cwd, '.triphammer'))
    writeFileSync(join(cwd, '.triphammer', 'demo.db'), 'something else entirely'.repeat(100))
    const { code, stderr } = await runDemo(cwd, { args: ['.'] })
    expect(code).toBe(1)
    expect(stderr).toContain('NOT_A_DATABASE')
    rmSync(join(cwd, '.triphammer'), { recursive: true })
    writeFileSync(join(cwd, '.triphammer'), '')
    const blocked = await runDemo(cwd, { args: ['.'] })
    expect(blocked.code).toBe(1)
    expect(blocked.stderr).toMatch(/^demo: EEXIST: .*\n$/)
  })

  it('explains itself', async () => {
    const { code, stdout } = await runDemo(folder(), { args: ['--help'] })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Usage: npm run demo \[folder\]/)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })
})
