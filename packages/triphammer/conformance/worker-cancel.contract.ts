import { expect, it } from 'vitest'
import { clientOn } from '../src/client/client.ts'
import { systemClock } from '../src/core/clock.ts'
import { discard } from '../src/core/outcome.ts'
import { type HandlerContext, handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, eavesdrop, forEachBench, turns, work } from './worker.ts'

const aborted = ({ signal }: HandlerContext<unknown>): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)))

// A client in another process, as good as: with a handle of its own.
async function elsewhere(bench: Bench) {
  return clientOn({ store: await bench.another(), clock: bench.clock, logger: false })
}

forEachBench('cancelling', (open) => {
  it.each<{ readonly what: string; readonly end: (reason: unknown) => unknown }>([
    { what: 'returns', end: () => 'done all the same' },
    {
      what: 'rethrows',
      end: (reason) => {
        throw reason
      },
    },
    {
      what: 'discards',
      end: () => {
        throw discard('no')
      },
    },
  ])('a running job is told within a pulse and is cancelled although its handler $what', async ({ end }) => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const reasons: { code: string }[] = []
    const flags: boolean[] = []
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({
      handlers: [
        handle(work, async (context) => {
          flags.push(context.cancelRequested)
          const reason = await aborted(context)
          flags.push(context.cancelRequested)
          reasons.push(reason as { code: string })
          return end(reason)
        }),
      ],
      plugins: [plugin],
    })
    await bench.until(() => flags.length === 1)
    const other = await elsewhere(bench)
    expect(await other.cancel(id, { reason: 'changed my mind' })).toMatchObject({ changed: 1 })
    expect(await bench.find(id)).toMatchObject({ state: 'running', cancelRequested: true })
    await bench.until(() => reasons.length === 1, 1_000)
    await bench.until(async () => (await bench.find(id))?.state === 'cancelled')
    expect(reasons.map(({ code }) => code)).toEqual(['CANCELLED'])
    expect(flags).toEqual([false, true])
    const record = await bench.find(id)
    expect(record).toMatchObject({ attempt: 1, error: { code: 'CANCELLED', message: 'changed my mind' } })
    expect(record).not.toHaveProperty('result')
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.started', 'job.cancelled'])
  })

  it('a handler that ends before it is told is cancelled too', async () => {
    const bench = await open()
    const { plugin, types } = eavesdrop()
    const permits = createPermits()
    const { id } = await bench.jobs.enqueue(work, {})
    await bench.started({ handlers: [handle(work, () => permits.take())], plugins: [plugin] })
    await bench.until(() => permits.waiting === 1)
    await (await elsewhere(bench)).cancel(id)
    permits.add(1)
    await turns() // no time passes, so no pulse
    expect(await bench.find(id)).toMatchObject({ state: 'cancelled' })
    expect(types().filter((type) => type.startsWith('job.'))).toEqual(['job.started', 'job.cancelled'])
  })

  it('force takes a running job away at once, and its worker learns it', async () => {
    const bench = await open()
    const reasons: unknown[] = []
    const { id } = await bench.jobs.enqueue(work, {})
    const worker = await bench.started({
      handlers: [handle(work, async (context) => void reasons.push(((await aborted(context)) as { code: string }).code))],
    })
    await bench.until(() => worker.stats().running === 1)
    await (await elsewhere(bench)).cancel(id, { force: true })
    const record = await bench.find(id)
    expect(record).toMatchObject({ state: 'cancelled' })
    await bench.until(() => reasons.length === 1, 1_000)
    expect(reasons).toEqual(['LEASE_LOST'])
    await bench.until(() => worker.stats().running === 0)
    await turns()
    expect(await bench.find(id)).toEqual(record)
  })

  it('a pending job is cancelled and does not run', async () => {
    const bench = await open()
    let runs = 0
    const { id } = await bench.jobs.enqueue(work, {}, { delay: '1s' })
    await bench.started({ handlers: [handle(work, () => void runs++)] })
    expect(await bench.jobs.cancel(id)).toMatchObject({ changed: 1 })
    await bench.clock.advance('5s')
    await turns()
    expect(await bench.find(id)).toMatchObject({ state: 'cancelled', attempt: 0 })
    expect(runs).toBe(0)
  })
})

forEachBench(
  'cancelling on the machine’s clock',
  (open) => {
    it('a running job is told within a second', async () => {
      const bench = await open()
      const told: number[] = []
      const worker = await bench.started({
        handlers: [
          handle(work, async (context) => {
            await aborted(context)
            told.push(systemClock.monotonic())
          }),
        ],
      })
      const other = await elsewhere(bench)
      const waits: number[] = []
      for (const wait of [0, 333, 667]) {
        const { id } = await bench.jobs.enqueue(work, {})
        await bench.until(() => worker.stats().running === 1)
        await bench.clock.advance(wait) // another place between two pulses
        const asked = systemClock.monotonic()
        await other.cancel(id)
        await bench.until(async () => (await bench.find(id))?.state === 'cancelled')
        waits.push(told.at(-1)! - asked)
      }
      // A pulse is a second; the rest is for a machine that has other things to do.
      for (const wait of waits) expect(wait).toBeLessThan(1_250)
    })
  },
  { clock: 'system' },
)
