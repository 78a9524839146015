import { expect, it } from 'vitest'
import type { Gate, Grant } from '../src/extend/gate.ts'
import type { Plugin } from '../src/extend/plugin.ts'
import type { JobId, Outcome } from '../src/store/types.ts'
import { handle } from '../src/worker/handler.ts'
import { type Bench, createPermits, forEachBench, interpose, turns, work } from './worker.ts'

const gated = (...gates: readonly Gate[]): Plugin => ({ name: 'gated', setup: ({ gate }) => gates.forEach((one) => void gate(one)) })

/** A gate that is a number of tokens: taken is spent, unless it is refunded. `retryInMs` is when the next would come. */
function bucket(tokens: number, retryInMs?: number): Gate & { tokens: number; taken: number } {
  const own = {
    name: 'bucket',
    tokens,
    taken: 0,
    take(_: string, want: number): Grant {
      const granted = Math.min(want, own.tokens)
      own.tokens -= granted
      own.taken += granted
      return granted < want && retryInMs !== undefined ? { granted, retryInMs } : { granted }
    },
    refund(_: string, count: number): void {
      own.tokens += count
    },
  }
  return own
}

/** A gate that lets a number of runs be at work at once. */
function throttle(permits: number): Gate & { free: number; done(queue: string, count: number): void } {
  const own = {
    name: 'throttle',
    free: permits,
    take(_: string, want: number): Grant {
      const granted = Math.min(want, own.free)
      own.free -= granted
      return { granted }
    },
    refund(_: string, count: number): void {
      own.free += count
    },
    done(_: string, count: number): void {
      own.free += count
    },
  }
  return own
}

async function enqueue({ jobs }: Bench, count: number): Promise<JobId[]> {
  return (await jobs.enqueueMany(work, Array.from({ length: count }))).map(({ id }) => id)
}

forEachBench('gates', (open) => {
  it('lower what is claimed; what is spent is what was run', async () => {
    const bench = await open()
    const tokens = bucket(3)
    let runs = 0
    await enqueue(bench, 9)
    await bench.started({ handlers: [handle(work, () => void runs++)], plugins: [gated(tokens)] })
    await bench.clock.advance('10s')
    expect([runs, tokens.tokens]).toEqual([3, 0])
    tokens.tokens = 4
    await bench.until(() => runs === 7, 1_100) // asked again at the next poll
    expect(tokens.tokens).toBe(0)
  })

  it('are asked again when they say, and do not make the worker spin until then', async () => {
    const bench = await open()
    const tokens = bucket(0, 200)
    let asked = 0
    const counted: Gate = {
      ...tokens,
      take(queue, want) {
        asked++
        return tokens.take(queue, want)
      },
    }
    let runs = 0
    await enqueue(bench, 1)
    await bench.started({ handlers: [handle(work, () => void runs++)], plugins: [gated(counted)], poll: '10s' })
    await bench.clock.advance('2s')
    expect(asked).toBeGreaterThanOrEqual(10)
    expect(asked).toBeLessThanOrEqual(13)
    tokens.tokens = 1
    await bench.until(() => runs === 1, 250)
  })

  it('[I6] get back what an empty claim did not use, however often', async () => {
    const bench = await open()
    const tokens = bucket(2)
    let runs = 0
    await bench.started({ handlers: [handle(work, () => void runs++)], plugins: [gated(tokens)] })
    await bench.clock.advance('1m')
    expect(tokens.taken).toBeGreaterThan(50)
    expect(tokens.tokens).toBe(2)
    await enqueue(bench, 2)
    await bench.until(() => runs === 2)
    expect(tokens.tokens).toBe(0)
  })

  it('[I6] get back what a claim that failed did not use', async () => {
    const bench = await open()
    const tokens = bucket(5)
    let fails = true
    const store = interpose(bench.store, (verb, call) => (verb === 'claim' && fails ? Promise.reject(new Error('no')) : call()))
    let runs = 0
    await enqueue(bench, 5)
    await bench.started({ store, handlers: [handle(work, () => void runs++)], plugins: [gated(tokens)] })
    await bench.clock.advance('5s')
    expect(tokens.tokens).toBe(5)
    fails = false
    await bench.until(() => runs === 5, 6_000)
    expect(tokens.tokens).toBe(0)
  })

  it('[I6] get back what was held and given back, at a pause and at the stop', async () => {
    const bench = await open()
    const tokens = bucket(10)
    const permits = createPermits()
    await enqueue(bench, 5)
    const worker = await bench.started({
      handlers: [handle(work, () => permits.take())],
      queues: { default: { concurrency: 1, prefetch: 5 } },
      plugins: [gated(tokens)],
    })
    await bench.until(() => worker.stats().held === 4)
    expect(tokens.tokens).toBe(5)
    await bench.jobs.pause('default')
    await bench.until(() => tokens.tokens === 9, 1_100)
    await bench.jobs.resume('default')
    await bench.until(() => worker.stats().held === 4)
    permits.add(1)
    await bench.until(() => permits.waiting === 1)
    const stopping = worker.stop()
    permits.add(1)
    await bench.settled(stopping)
    expect(await bench.states()).toEqual({ completed: 2, pending: 3 })
    expect(tokens.tokens).toBe(8)
  })

  it('[I6] get back the token of a held job that was lost, so that it can be run', async () => {
    const bench = await open()
    const tokens = bucket(2)
    const permits = createPermits()
    const ids = await enqueue(bench, 2)
    const starts: JobId[] = []
    const worker = await bench.started({
      handlers: [
        handle(work, async ({ job }) => {
          starts.push(job.id)
          await permits.take()
        }),
      ],
      queues: { default: { concurrency: 1, prefetch: 2 } },
      plugins: [gated(tokens)],
    })
    await bench.until(() => worker.stats().held === 1 && permits.waiting === 1)
    await bench.clock.advance(150)
    await bench.jobs.retry(ids[1]!) // a person takes the held one away
    permits.add(10)
    await bench.until(async () => (await bench.states())['completed'] === 2)
    expect(starts).toEqual(ids)
    expect(tokens.tokens).toBe(0)
  })

  it('a run is at work until its finish has been answered, not until its handler has returned', async () => {
    const bench = await open()
    const slots = throttle(2)
    const answers = createPermits()
    const store = interpose(bench.store, async (verb, call, [request]) => {
      const answer = await call()
      if (verb === 'finish' || (request as { finish?: readonly Outcome[] } | undefined)?.finish?.length) await answers.take()
      return answer
    })
    let runs = 0
    await enqueue(bench, 4)
    await bench.started({ store, handlers: [handle(work, () => void runs++)], plugins: [gated(slots)] })
    await bench.until(() => answers.waiting === 1)
    await turns()
    expect([runs, slots.free]).toEqual([2, 0])
    answers.add(100)
    await bench.until(async () => (await bench.states())['completed'] === 4)
    await turns()
    expect([runs, slots.free]).toEqual([4, 2])
  })

  it('never let more be claimed than they grant at once', async () => {
    const bench = await open()
    const slots = throttle(2)
    const permits = createPermits()
    let peak = 0
    await enqueue(bench, 12)
    const worker = await bench.started({ handlers: [handle(work, () => permits.take())], queues: { default: 10 }, plugins: [gated(slots)] })
    for (let n = 0; n < 12; n++) {
      await bench.until(() => permits.waiting === Math.min(2, 12 - n), 5_000)
      const { running, held } = worker.stats()
      peak = Math.max(peak, running + held, (await bench.states())['running'] ?? 0)
      permits.add(1)
    }
    await bench.until(async () => (await bench.states())['completed'] === 12)
    expect(peak).toBe(2)
    await turns()
    expect(slots.free).toBe(2)
  })

  it('are all asked, and what a later one denies goes back to the earlier', async () => {
    const bench = await open()
    const [wide, narrow] = [bucket(10), bucket(2)]
    let runs = 0
    await enqueue(bench, 6)
    await bench.started({ handlers: [handle(work, () => void runs++)], plugins: [gated(wide), gated(narrow)] })
    await bench.clock.advance('3s')
    expect([runs, wide.tokens, narrow.tokens]).toEqual([2, 8, 0])
    narrow.tokens = 10
    await bench.until(() => runs === 6, 1_100)
    await turns()
    expect([wide.tokens, narrow.tokens]).toEqual([4, 6])
  })
})
