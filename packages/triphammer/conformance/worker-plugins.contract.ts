import { expect, it } from 'vitest'
import { discard } from '../src/core/outcome.ts'
import { fixed } from '../src/core/retry.ts'
import type { Events } from '../src/extend/events.ts'
import type { RunMiddleware } from '../src/extend/middleware.ts'
import type { Plugin, PluginContext } from '../src/extend/plugin.ts'
import type { JobId, Outcome } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { createPermits, eavesdrop, forEachBench, interpose, turns, work } from './worker.ts'

const plugin = (setup: (context: PluginContext) => void): Plugin => ({ name: 'test', setup })
const wrapping = (...links: readonly RunMiddleware[]): Plugin => plugin(({ run }) => links.forEach((link) => void run(link)))

forEachBench('run middleware', (open) => {
  it('wraps the handler, the first outermost, and sees run, signal and log', async () => {
    const bench = await open()
    const steps: unknown[] = []
    const note =
      (name: string): RunMiddleware =>
      async (call, next) => {
        steps.push(`${name} ${call.run.task} ${call.signal.aborted} ${typeof call.log.info}`)
        const result = await next({ ...call, run: { ...call.run, payload: `["${name}",${call.run.payload}]` } })
        steps.push(`${name} after`)
        return { [name]: result }
      }
    const { id } = await bench.jobs.enqueue(work, 'core')
    const worker = bench.worker({
      handlers: [
        handle(work, ({ payload }) => {
          steps.push(payload)
          return 'result'
        }),
      ],
      plugins: [wrapping(note('a'), note('b'))],
    })
    await bench.settled(worker.runOnce())
    expect(steps).toEqual(['a work false function', 'b work false function', ['b', ['a', 'core']], 'b after', 'a after'])
    const job = await bench.jobs.get(id)
    expect(job).toMatchObject({ state: 'completed', payload: 'core' })
    if (bench.store.facets.results) expect(job!.result).toEqual({ a: { b: 'result' } })
  })

  it.each<{ readonly what: string; readonly link: RunMiddleware; readonly expected: object; readonly runs: number }>([
    {
      what: 'rejects',
      link: () => Promise.reject(new RangeError('no')),
      expected: { state: 'pending', error: { name: 'RangeError' } },
      runs: 0,
    },
    {
      what: 'throws at once',
      link: () => {
        throw new RangeError('no')
      },
      expected: { state: 'pending', attempt: 1, error: { name: 'RangeError' } },
      runs: 0,
    },
    {
      what: 'discards',
      link: () => Promise.reject(discard('forbidden')),
      expected: { state: 'dead', error: { message: 'forbidden' } },
      runs: 0,
    },
    { what: 'answers itself', link: async () => 'cached', expected: { state: 'completed' }, runs: 0 },
    {
      what: 'forgives',
      link: (call, next) => next(call).catch(() => 'forgiven'),
      expected: { state: 'completed' },
      runs: 1,
    },
    {
      what: 'calls next twice',
      link: async (call, next) => {
        await next(call).catch(() => {})
        return next(call)
      },
      expected: { state: 'pending', error: { message: 'middleware called next() twice' } },
      runs: 1,
    },
  ])('that $what decides', async ({ link, expected, runs }) => {
    const bench = await open()
    let ran = 0
    const { id } = await bench.jobs.enqueue(work, {}, { retry: fixed('1m') })
    const handler = handle(work, () => {
      ran++
      throw new Error('boom')
    })
    const worker = bench.worker({ handlers: [handler], plugins: [wrapping(link)] })
    await bench.settled(worker.runOnce())
    expect(await bench.find(id)).toMatchObject(expected)
    expect(ran).toBe(runs)
  })
})

forEachBench('observers', (open) => {
  it('that throw or reject are logged and counted, and do no harm', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const bad = plugin(({ on }) => {
      on('job.started', () => {
        throw new Error('bad observer')
      })
      on('job.completed', (async () => Promise.reject(new Error('bad observer'))) as () => void)
    })
    const worker = await bench.started({ handlers: [handle(work, () => {})], plugins: [bad] })
    await bench.settled(worker.idle())
    await turns()
    expect(await bench.find(id)).toMatchObject({ state: 'completed' })
    expect(worker.stats().observerFailures).toBe(2)
    expect(bench.logged.filter(({ message }) => message.includes('observer threw'))).toHaveLength(2)
  })

  it('hear of an end after it is committed, and of the start before', async () => {
    const bench = await open()
    const seen: unknown[] = []
    let id: JobId | undefined
    const looks: Promise<void>[] = []
    const look = (type: string) => (): void => {
      seen.push(type)
      looks.push(bench.find(id!).then((record) => void seen.push(`${type}: ${record!.state}`)))
    }
    const worker = bench.worker({ handlers: [handle(work, () => seen.push('handler'))] })
    worker.on('job.started', look('started'))
    worker.on('job.completed', look('completed'))
    const added = await bench.jobs.enqueue(work, {})
    id = added.id
    await bench.settled(worker.runOnce())
    await Promise.all(looks)
    expect(seen.filter((entry) => !String(entry).includes(':'))).toEqual(['started', 'handler', 'completed'])
    expect(seen).toContain('completed: completed')
  })

  it('hear nothing of an outcome while it is not committed', async () => {
    const bench = await open()
    const { plugin: ears, types } = eavesdrop()
    const permits = createPermits()
    const store = interpose(bench.store, async (verb, call, [request]) => {
      if (verb === 'finish' || (request as { finish?: readonly Outcome[] } | undefined)?.finish?.length) await permits.take()
      return call()
    })
    await bench.jobs.enqueue(work, {})
    await bench.started({ store, handlers: [handle(work, () => {})], plugins: [ears] })
    await bench.until(() => permits.waiting === 1)
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.started'])
    permits.add(1)
    await bench.until(() => types().includes('job.completed'))
  })

  it('are told what comes with each kind of end', async () => {
    const bench = await open()
    const { plugin: ears, heard } = eavesdrop()
    const { id } = await bench.jobs.enqueue(work, 'fails', { maxAttempts: 2, retry: fixed(100) })
    const worker = await bench.started({
      handlers: [
        handle(work, () => {
          throw new TypeError('boom')
        }),
      ],
      plugins: [ears],
    })
    await bench.until(async () => (await bench.find(id))?.state === 'dead')
    await worker.stop()
    const events = heard.filter(({ type }) => type.startsWith('job.'))
    const job = { id, task: 'work', queue: 'default' }
    const error = expect.objectContaining({ name: 'TypeError', message: 'boom' })
    expect(events).toMatchObject([
      { type: 'job.started', event: { job, attempt: 1 } },
      { type: 'job.retrying', event: { job, attempt: 1, delayMs: 100, durationMs: 0, error } },
      { type: 'job.started', event: { job, attempt: 2 } },
      { type: 'job.dead', event: { job, attempt: 2, durationMs: 0, error } },
    ])
  })

  it('can leave', async () => {
    const bench = await open()
    const heard: Events['job.completed'][] = []
    const worker = bench.worker({ handlers: [handle(work, () => {})] })
    const leave = worker.on('job.completed', (event) => void heard.push(event))
    await bench.jobs.enqueue(work, 1)
    await bench.settled(worker.runOnce())
    leave()
    await bench.jobs.enqueue(work, 2)
    await bench.settled(worker.runOnce())
    expect(heard).toHaveLength(1)
  })
})
