import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../conformance/harness.ts'
import type { StoreUnderTest } from '../../conformance/store-under-test.ts'
import { STORES } from '../../conformance/stores.ts'
import type { Ids } from '../../src/core/ids.ts'
import { type ManualClock, manualClock } from '../../src/core/manual-clock.ts'
import type { JobRecord } from '../../src/store/admin.ts'
import type { Store } from '../../src/store/store.ts'
import { type Answer, type History, nameNewcomers, perform, type Side } from './history.ts'
import { type Step, step } from './steps.ts'

// Longer: TRIPHAMMER_MODEL_RUNS=2000. Another walk: TRIPHAMMER_MODEL_SEED=7. A failure prints its seed, path and steps.
const runs = Number(process.env['TRIPHAMMER_MODEL_RUNS'] ?? 25)
const seed = Number(process.env['TRIPHAMMER_MODEL_SEED'] ?? 1)
// Whatever was found by then is reported, though it may not be the shortest: a test that timed out would report nothing.
const limitMs = 30_000 + runs * 2_000

// The memory store is the model, and the first of the list. Beside itself it must give the same answers twice.
const MODEL = STORES.find(({ name }) => name === 'memory')!

for (const entry of STORES) {
  describe(`store: ${entry.name}`, () => {
    it(`answers as the memory store does, ${runs} random histories long`, { timeout: limitMs + 30_000 }, async () => {
      const histories = fc.array(step, { minLength: 1, maxLength: 100, size: 'max' })
      await fc.assert(
        fc.asyncProperty(histories, (steps) => compare(entry, steps)),
        { numRuns: runs, seed, plugins: [fc.interruptAfterTimeLimit(limitMs, { failOnInterrupt: true })] },
      )
    })
  })
}

async function compare(entry: StoreUnderTest, steps: readonly Step[]): Promise<void> {
  const closing: (() => Promise<void>)[] = []
  try {
    const clock = manualClock()
    const chance = { random: 0 }
    const open = async (under: StoreUnderTest): Promise<Store> => {
      const { store } = await openStore(under, (close) => closing.push(close), { clock, ids: fixedIds(chance) })
      return store
    }
    const sides: readonly Side[] = [
      { store: await open(MODEL), index: 0 },
      { store: await open(entry), index: 1 },
    ]
    const history: History = { jobs: [], runs: [] }
    for (const one of steps) {
      if (one.kind === 'claim') chance.random = one.random
      await takeStep(one, sides, history, clock)
      await compareAll(sides)
    }
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

async function takeStep(one: Step, sides: readonly Side[], history: History, clock: ManualClock): Promise<void> {
  if (one.kind === 'advance') await clock.advance(one.ms)
  if (one.kind === 'turnBack') clock.setWallClock(clock.now() - one.ms)
  nameNewcomers(one, history)
  const answers: Answer[] = []
  for (const side of sides) answers.push(await perform(one, side, history, clock))
  const [expected, actual] = answers
  expect(actual?.value).toEqual(expected?.value)
  for (const [at, run] of (expected?.runs ?? []).entries()) {
    history.runs.push({ id: run.id, tokens: answers.map((answer) => answer.runs![at]!.lease.token) })
  }
}

// Everything that can be seen of both, and what must hold of every job in any history.
async function compareAll([model, other]: readonly Side[]): Promise<void> {
  const expected = await everything(model!.store)
  expect(await everything(other!.store)).toEqual(expected)
  for (const job of expected.jobs) {
    expect(job.leaseUntil !== undefined).toBe(job.state === 'running')
    expect(job.endedAt !== undefined).toBe(job.state !== 'running' && job.state !== 'pending')
    expect(job.attempt).toBeGreaterThanOrEqual(job.state === 'running' ? 1 : 0)
  }
}

interface Everything {
  readonly jobs: readonly JobRecord[]
  readonly states: unknown
  readonly queues: unknown
}

async function everything({ admin }: Store): Promise<Everything> {
  const { jobs } = await admin.find({}, { limit: 10_000, order: 'oldest' })
  const queues = await admin.queues()
  return {
    jobs: jobs.map(canonical),
    states: Object.fromEntries((await admin.count({}, 'state')).map(({ key, count }) => [key, count])),
    queues: queues.filter(({ pending, running, paused }) => pending + running > 0 || paused),
  }
}

// A store may write JSON text in another way.
function canonical(job: JobRecord): JobRecord {
  const rewrite = (text: string): string => JSON.stringify(JSON.parse(text))
  return {
    ...job,
    payload: rewrite(job.payload),
    ...(job.result === undefined ? {} : { result: rewrite(job.result) }),
    ...(job.progress === undefined ? {} : { progress: rewrite(job.progress) }),
  }
}

// Tokens that count up, and a chance that is the same for both stores however often they ask.
function fixedIds(chance: { readonly random: number }): Ids {
  let count = 0
  return {
    next: () => `00000000-0000-7000-a000-${(++count).toString(16).padStart(12, '0')}`,
    random: () => chance.random,
  }
}
