import { expect, it } from 'vitest'
import { defineTask } from '../src/core/task.ts'
import type { JobId } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, forEachBench, interpose, turns, work } from './worker.ts'

forEachBench('runOnce', (open) => {
  it('follows what handlers enqueue into other queues, and leaves what is due later', async () => {
    const bench = await open()
    const [first, second, third] = ['first', 'second', 'third'].map((queue) => defineTask(queue, { queue }))
    const seen: string[] = []
    const worker = bench.worker({
      handlers: [
        handle(third!, ({ job }) => void seen.push(job.task)),
        handle(second!, async ({ job, enqueue }) => {
          seen.push(job.task)
          await enqueue(third!, {})
        }),
        handle(first!, async ({ job, enqueue }) => {
          seen.push(job.task)
          await enqueue(second!, {})
          await enqueue(second!, {}, { delay: '1s' })
        }),
      ],
      queues: { third: 1, second: 1, first: 1 },
      store: deaf(bench),
    })
    await bench.jobs.enqueue(first!, {})
    expect(await bench.settled(worker.runOnce())).toEqual({ started: 3 })
    expect(seen).toEqual(['first', 'second', 'third'])
    expect(await bench.states()).toEqual({ completed: 3, pending: 1 })
  })

  it('ends when there is nothing to do, also in a paused queue', async () => {
    const bench = await open()
    const worker = bench.worker({ handlers: [handle(work, () => {})] })
    expect(await bench.settled(worker.runOnce())).toEqual({ started: 0 })
    await bench.jobs.enqueue(work, {})
    await bench.jobs.pause('default')
    expect(await bench.settled(worker.runOnce())).toEqual({ started: 0 })
    await bench.jobs.resume('default')
    expect(await bench.settled(worker.runOnce())).toEqual({ started: 1 })
  })

  it('idle() waits for what was in hand when it was called and for what that enqueues elsewhere', async () => {
    const bench = await open()
    const [from, to] = ['from', 'to'].map((queue) => defineTask(queue, { queue }))
    const permits = createPermits()
    const seen: JobId[] = []
    const worker = await bench.started({
      handlers: [
        handle(from!, async ({ enqueue }) => {
          await permits.take()
          await enqueue(to!, {})
        }),
        handle(to!, ({ job }) => void seen.push(job.id)),
      ],
      queues: { from: 1, to: 1 },
      store: deaf(bench),
      poll: '1h',
    })
    await bench.jobs.enqueue(from!, {})
    await bench.until(() => permits.waiting === 1, 7_200_000)
    let idle = false
    const waiting = worker.idle().then(() => (idle = true))
    await turns()
    expect(idle).toBe(false)
    permits.add(1)
    await waiting // no time passes
    expect(seen).toHaveLength(1)
  })
})

// The store without wake-ups: what polling alone finds.
function deaf({ store }: Bench): Bench['store'] {
  const { wakeups, ...facets } = store.facets
  return { ...interpose(store, (_, call) => call()), facets }
}
