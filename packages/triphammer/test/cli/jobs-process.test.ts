import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { canonical, hostileNames, hostilePayloads, SEED } from '../../conformance/hostile.ts'
import type { JobList } from '../../src/index.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'triphammer-cli-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

function triphammer(argv: readonly string[], input = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: { PATH: process.env['PATH'] }, maxBuffer: 1e9 }
    const child = execFile(process.execPath, [MAIN, ...argv], options, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err })
    })
    child.stdin!.end(input)
  })
}

describe('jobs, by real processes', () => {
  it('hostile names and payloads go in by arguments and come back exactly', { timeout: 240_000 }, async () => {
    const odd = ['--json', '--', '$(id)\n`id`']
    const names = [...hostileNames(4, SEED), ...odd]
    const payloads = hostilePayloads(names.length, SEED)
    for (const [n, name] of names.entries()) {
      const told = await triphammer(['jobs', 'enqueue', `--queue=${name}`, '--', name, JSON.stringify(payloads[n])])
      expect([name, told.code, told.err]).toEqual([name, 0, ''])
    }
    const list = async (...argv: string[]): Promise<string[]> => {
      const { jobs } = JSON.parse((await triphammer(['jobs', 'list', '--json', '--order', 'oldest', ...argv])).out) as JobList
      return jobs.map(({ task, queue, payload }) => canonical([task, queue, payload]))
    }
    const expected = names.map((name, n) => canonical([name, name, JSON.parse(JSON.stringify(payloads[n]))]))
    expect(await list()).toEqual(expected)
    for (const name of odd) expect(await list(`--queue=${name}`, `--task=${name}`)).toEqual([expected[names.indexOf(name)]])
  })

  it('payloads and ids come by standard input, and exit codes tell what happened', { timeout: 120_000 }, async () => {
    expect(await triphammer(['jobs', 'list'])).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/SCHEMA_MISSING/) })
    expect(await triphammer(['jobs', 'enqueue', 'a', '-'], '{"a":1}')).toMatchObject({ code: 0, err: '' })
    expect(await triphammer(['jobs', 'enqueue', 'a', '--lines'], '1\n2\n')).toEqual({ code: 0, out: '2 jobs enqueued.\n', err: '' })
    const { jobs } = JSON.parse((await triphammer(['jobs', 'list', '--json'])).out) as JobList
    const ids = jobs.map(({ id }) => id).join('\n')
    expect(await triphammer(['jobs', 'cancel', '-'], ids)).toEqual({ code: 0, out: '3 jobs cancelled, or asked to stop.\n', err: '' })
    expect(await triphammer(['jobs', 'kill', jobs[0]!.id])).toMatchObject({ code: 1, out: expect.stringMatching(/refused/) })
    expect(await triphammer(['jobs', 'kill'])).toMatchObject({ code: 2, out: '' })
    expect(await triphammer(['jobs', 'purge', '--all'])).toEqual({ code: 0, out: '3 jobs purged.\n', err: '' })
  })

  it('a task in TypeScript, of a project that has the library installed, is what an enqueue is checked by', {
    timeout: 120_000,
  }, async () => {
    mkdirSync(join(cwd, 'node_modules'))
    symlinkSync(PACKAGE, join(cwd, 'node_modules', 'triphammer'))
    writeFileSync(
      join(cwd, 'triphammer.config.ts'),
      "import { defineConfig } from 'triphammer/config'\nexport default defineConfig({ tasks: './tasks', store: 'app.db' })\n",
    )
    mkdirSync(join(cwd, 'tasks'))
    writeFileSync(
      join(cwd, 'tasks', 'mail.ts'),
      `import { defineTask } from 'triphammer'
       enum Queue { Mail = 'mail' }
       const validate = (value: unknown) => typeof value === 'number' ? { value } : { issues: [{ message: 'must be a number' }] }
       export const count = defineTask('count', { queue: Queue.Mail, input: { '~standard': { version: 1, vendor: 'test', validate } } })\n`,
    )
    expect(await triphammer(['jobs', 'enqueue', 'count', '7'])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/into the queue mail/),
    })
    expect(await triphammer(['jobs', 'enqueue', 'count', '"7"'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/must be a number/),
    })
    expect(await triphammer(['jobs', 'enqueue', 'cuont', '7'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/there are count/),
    })
    expect(await triphammer(['jobs', 'count'])).toEqual({ code: 0, out: '1\n', err: '' })
  })

  it('a reader that leaves early is no error', { timeout: 120_000 }, async () => {
    const input = `"${'x'.repeat(1_000)}"\n`.repeat(1_000)
    await triphammer(['jobs', 'enqueue', 'a', '--lines'], input)
    const child = spawn(process.execPath, [MAIN, 'jobs', 'list', '--limit', '1000', '--json'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    child.stdout.once('data', () => child.stdout.destroy())
    await once(child, 'close')
    expect(err).toBe('')
  })
})
