import { expect, it } from 'vitest'
import { parseLogger } from '../src/core/logger.ts'
import { createEnqueuer } from '../src/extend/enqueuer.ts'
import { installPlugins, type Plugin } from '../src/extend/plugin.ts'
import { createSettler } from '../src/extend/settle.ts'
import { createCommit } from '../src/worker/commit.ts'
import { handle } from '../src/worker/handler.ts'
import { forEachBench, interpose, work } from './worker.ts'

forEachBench(
  'what a handler says last',
  (open) => {
    it('the progress that it showed just before it ended stays with the job, whatever it ended in', async () => {
      const bench = await open()
      const good = await bench.jobs.enqueue(work, 'good')
      const bad = await bench.jobs.enqueue(work, 'bad', { maxAttempts: 1 })
      const worker = bench.worker({
        handlers: [
          handle(work, ({ payload, progress }) => {
            progress(`nearly ${String(payload)}`)
            if (payload === 'bad') throw new Error('no')
          }),
        ],
      })
      await bench.settled(worker.runOnce())
      expect(await bench.jobs.get(good.id)).toMatchObject({ state: 'completed', progress: 'nearly good' })
      expect(await bench.jobs.get(bad.id)).toMatchObject({ state: 'dead', progress: 'nearly bad' })
    })

    it('jobs that showed nothing cost no call', async () => {
      const bench = await open()
      await bench.jobs.enqueueMany(work, [1, 2, 3])
      let extended = 0
      const store = interpose(bench.store, (verb, call, [leases]) => {
        if (verb === 'extend' && (leases as readonly unknown[]).length > 0) extended++
        return call()
      })
      await bench.settled(bench.worker({ store, handlers: [handle(work, () => {})] }).runOnce())
      expect(extended).toBe(0)
    })

    it('the event of a job that completed in a commit carries its result', async () => {
      const bench = await open()
      const results: unknown[] = []
      const plugin: Plugin = { name: 'results', setup: ({ on }) => on('job.completed', ({ result }) => void results.push(result)) }
      await bench.jobs.enqueue(work, {})
      const worker = bench.worker({ plugins: [plugin], handlers: [handle(work, ({ commit }) => commit(() => ({ paid: true })))] })
      await bench.settled(worker.runOnce())
      expect(results).toEqual(['{"paid":true}'])
    })
  },
  { needs: ['results'] },
)

forEachBench('what happens first', (open) => {
  it('a job has started before its middleware begins', async () => {
    const bench = await open()
    const order: string[] = []
    const plugin: Plugin = {
      name: 'order',
      setup: ({ on, run }) => {
        on('job.started', () => void order.push('started'))
        run(async (call, next) => {
          order.push('middleware')
          return next(call)
        })
      },
    }
    await bench.jobs.enqueue(work, {})
    await bench.settled(bench.worker({ plugins: [plugin], handlers: [handle(work, () => {})] }).runOnce())
    expect(order).toEqual(['started', 'middleware'])
  })
})

forEachBench('ctx.commit with a transaction that is a function', (open) => {
  it('[I10] is the transaction and not the work, if the store knows it', async () => {
    const bench = await open()
    const { store, clock, ids } = bench
    const log = parseLogger(false, 'test')
    const [run] = await bench.add().then(() => bench.claim())
    const hooks = installPlugins([], { store, clock, log })
    const enqueuer = createEnqueuer({ store, hooks, clock, ids, payloadBytes: 1_000 })
    const settler = createSettler({ store, hooks, clock, log, prepare: enqueuer.prepare })
    // As the transactions of some query builders are: a function with members.
    const foreign = Object.assign(() => expect.unreachable(), { raw: () => {} })
    let own: unknown
    const knowing = { ...store, adopt: (tx: unknown) => store.adopt(tx === foreign ? own : tx) }
    const attempt = { run: run!, settled: false, times: () => ({ startedMs: 0, endedMs: 1 }) }
    const { commit, confirmed } = createCommit({ store: knowing, settler, enqueuer, clock, attempt })
    await store.transaction(async (tx) => {
      own = tx.db
      await commit(foreign, 'done')
    })
    expect(await confirmed()).toEqual({ kind: 'completed', result: '"done"' })
    expect(await bench.find(run!.id)).toMatchObject({ state: 'completed' })
  })

  it('a function with members that is no transaction is the work', async () => {
    const bench = await open()
    const { id } = await bench.jobs.enqueue(work, {})
    const told = Object.assign(() => 'worked', { label: 'mine' })
    await bench.settled(bench.worker({ handlers: [handle(work, ({ commit }) => commit(told))] }).runOnce())
    expect(await bench.find(id)).toMatchObject({ state: 'completed' })
  })
})
