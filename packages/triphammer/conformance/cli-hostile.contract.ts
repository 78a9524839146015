import { expect, it } from 'vitest'
import type { EnqueueResult, Job, JobList } from '../src/index.ts'
import { type OpenedCommandLine, openCommandLine } from './cli.ts'
import { forEachClient } from './client.ts'
import { canonical, hostileNames, hostilePayloads, SEED } from './hostile.ts'

const COUNT = 1_000
// Text that no terminal acts on: line breaks are the only control characters in it.
const TAME = /^(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\n)*$/u

interface Enqueued {
  readonly id: string
  readonly task: string
  readonly queue: string
  readonly payload: unknown
}

// Tasks and queues have names of their own, so that each filter has one job to find.
async function enqueueAll({ run }: OpenedCommandLine): Promise<Enqueued[]> {
  const names = hostileNames(2 * COUNT, SEED)
  const enqueued: Enqueued[] = []
  for (const [n, payload] of hostilePayloads(COUNT, SEED).entries()) {
    const [task, queue] = [names[2 * n]!, names[2 * n + 1]!]
    const told = await run(['jobs', 'enqueue', `--queue=${queue}`, '--json', '--', task, JSON.stringify(payload)])
    expect([task, queue, told.code, told.err]).toEqual([task, queue, 0, ''])
    enqueued.push({ id: told.json<EnqueueResult>().id, task, queue, payload })
  }
  // Each command line makes ids of its own: within a millisecond they do not rise.
  return enqueued.sort((a, b) => (a.id < b.id ? -1 : 1))
}

forEachClient('command line: hostile names and payloads', (open) => {
  it('[I11] a thousand of them come back exactly, are found by their names, and do nothing to a terminal', {
    timeout: 300_000,
  }, async () => {
    const opened = await openCommandLine(open)
    const { run } = opened
    const all = await enqueueAll(opened)

    const listed = await run(['jobs', 'list', '--json', '--limit', '1000', '--order', 'oldest'])
    const shown = await run(['jobs', 'show', '--json', '-'], { input: all.map(({ id }) => id).join('\n') })
    for (const { jobs } of [listed.json<JobList>(), shown.json<JobList>()]) {
      expect(jobs).toHaveLength(COUNT)
      for (const [n, job] of jobs.entries()) expect(asEnqueued(job)).toBe(asEnqueued(all[n]!))
    }

    for (const [n, { id, task, queue }] of all.entries()) {
      const flag = n % 2 === 0 ? `--task=${task}` : `--queue=${queue}`
      const { jobs } = (await run(['jobs', 'list', '--json', flag])).json<JobList>()
      expect([flag, jobs.map((job) => job.id)]).toEqual([flag, [id]])
    }

    for (const columns of [undefined, 80, 200]) {
      const { out } = await run(['jobs', 'list', '--limit', '1000', '--order', 'oldest'], { columns })
      expect(out).toMatch(TAME)
      expect(
        out
          .trimEnd()
          .split('\n')
          .slice(1)
          .map((line) => line.slice(0, 36)),
      ).toEqual(all.map(({ id }) => id))
    }
    for (const by of ['queue', 'task']) expect((await run(['jobs', 'count', '--by', by])).out).toMatch(TAME)
    for (const told of [listed, shown, await run(['jobs', 'show', '-'], { input: all.map(({ id }) => id).join('\n') })])
      expect(told.out).toMatch(TAME)
  })
})

function asEnqueued({ id, task, queue, payload }: Enqueued | Job): string {
  return canonical([id, task, queue, JSON.parse(JSON.stringify(payload))])
}
