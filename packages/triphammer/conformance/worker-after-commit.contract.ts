import { expect, it } from 'vitest'
import { handle } from '../src/worker/handler.ts'
import { createPermits, eavesdrop, forEachBench, turns, work } from './worker.ts'

forEachBench('a handler that goes on after ctx.commit', (open) => {
  it.each(['a timeout', 'a shutdown'] as const)('%s does not make its job anything but completed', async (what) => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const permits = createPermits()
    const handler = handle(work, async ({ commit }) => {
      await commit(() => 'done')
      await permits.take()
    })
    const { id } = await bench.jobs.enqueue(work, {}, { timeout: '5s' })
    const worker = await bench.started({ handlers: [handler], plugins: [plugin] })
    await bench.until(() => permits.waiting === 1)
    if (what === 'a timeout') await bench.clock.advance('6s')
    await bench.settled(worker.stop({ grace: 0 }))
    expect(await bench.find(id)).toMatchObject({ state: 'completed', attempt: 1 })
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.started', 'job.completed'])
    expect(bench.logged).toEqual([])
    permits.add(1)
  })

  it('is not told that it has lost its lease', async () => {
    const bench = await open()
    const permits = createPermits()
    const signals: AbortSignal[] = []
    const handler = handle(work, async ({ commit, signal }) => {
      signals.push(signal)
      await commit(() => {})
      await permits.take()
    })
    await bench.jobs.enqueue(work, {})
    const worker = await bench.started({ handlers: [handler], lease: '3s' })
    await bench.until(() => permits.waiting === 1)
    await bench.clock.advance('10s')
    await turns()
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    permits.add(1)
    await bench.settled(worker.idle())
    expect(await bench.states()).toEqual({ completed: 1 })
  })
})
