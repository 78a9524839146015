import { expect, it } from 'vitest'
import type { Level, Weights } from '../src/core/priority.ts'
import { DEFAULT_WEIGHTS, LEVEL_PRIORITY, LEVELS, levelOf, parseWeights } from '../src/core/priority.ts'
import type { Outcome } from '../src/store/types.ts'
import { request } from './builders.ts'
import { forEachStore, type Opened } from './harness.ts'

const ONLY_LOW: Weights = { critical: 0, high: 0, normal: 0, low: 1, background: 0 }
const NONE: Weights = { critical: 0, high: 0, normal: 0, low: 0, background: 0 }

// `count` jobs on each of the levels, by level.
async function addLevels({ store, job }: Opened, count: number, levels: readonly Level[] = LEVELS): Promise<Map<Level, string[]>> {
  const ids = new Map<Level, string[]>()
  for (const level of levels) {
    const jobs = Array.from({ length: count }, () => job({ priority: LEVEL_PRIORITY[level] }))
    await store.enqueue(jobs)
    ids.set(
      level,
      jobs.map(({ id }) => id),
    )
  }
  return ids
}

forEachStore('claim by weight', (open) => {
  it('takes the picked level alone while it has enough', async () => {
    const opened = await open()
    const ids = await addLevels(opened, 4)
    const runs = await opened.claim({ weights: ONLY_LOW, limit: 3 })
    expect(runs.map(({ id }) => id)).toEqual(ids.get('low')!.slice(0, 3))
  })

  it('then picks among the rest; of levels that weigh nothing, the most urgent', async () => {
    const opened = await open()
    const ids = await addLevels(opened, 2)
    const runs = await opened.claim({ weights: ONLY_LOW, limit: 5 })
    expect(runs.map(({ id }) => id)).toEqual([...ids.get('low')!, ...ids.get('critical')!, ids.get('high')![0]])
  })

  it('a level without weight has work alone: it is taken', async () => {
    const opened = await open()
    const ids = await addLevels(opened, 2, ['background'])
    const runs = await opened.claim({ weights: ONLY_LOW, limit: 5 })
    expect(runs.map(({ id }) => id)).toEqual(ids.get('background'))
  })

  it('no weights at all: the most urgent first', async () => {
    const opened = await open()
    const ids = await addLevels(opened, 2, ['normal', 'low', 'high'])
    const runs = await opened.claim({ weights: NONE, limit: 10 })
    expect(runs.map(({ id }) => id)).toEqual([...ids.get('high')!, ...ids.get('normal')!, ...ids.get('low')!])
  })

  it('a level reaches from its number to the next, and is in order: priority, run time, id', async () => {
    const { store, job, claim, clock } = await open()
    const now = clock.now()
    const [late, early, first, below, above] = [
      job({ priority: 19, runAt: now }),
      job({ priority: 19, runAt: now - 5 }),
      job({ priority: 10, runAt: now }),
      job({ priority: 9, runAt: now }),
      job({ priority: 20, runAt: now }),
    ] as const
    await store.enqueue([late, early, first, below, above])
    const runs = await claim({ weights: ONLY_LOW, limit: 3 })
    expect(runs.map(({ id }) => id)).toEqual([first.id, early.id, late.id])
  })

  it('the first and the last level reach to the ends of the range', async () => {
    const { store, job, claim } = await open()
    const [first, last] = [job({ priority: -32_768 }), job({ priority: 32_767 })]
    await store.enqueue([last, first])
    expect((await claim({ weights: NONE })).map(({ id }) => id)).toEqual([first.id, last.id])
  })

  it('a level whose jobs are due later, or are of other tasks, is no candidate', async () => {
    const { store, job, claim } = await open()
    const mine = job({ priority: 20, task: 'mine' })
    await store.enqueue([job({ priority: 10, task: 'mine', delayMs: 1 }), job({ priority: 10, task: 'other' }), mine])
    expect((await claim({ weights: ONLY_LOW, tasks: ['mine'] })).map(({ id }) => id)).toEqual([mine.id])
  })

  it('a paused queue gives nothing', async () => {
    const opened = await open()
    await addLevels(opened, 1)
    await opened.store.admin.setQueue('default', { paused: {} })
    expect(await opened.claim({ weights: ONLY_LOW })).toEqual([])
    await opened.store.admin.setQueue('default', { paused: null })
    expect(await opened.claim({ weights: ONLY_LOW })).toHaveLength(5)
  })

  // What is claimed is handed back with the next claim, so that every level has work all the time.
  async function picks(opened: Opened, weights: Weights, levels: readonly Level[], times: number): Promise<ReadonlyMap<Level, number>> {
    await addLevels(opened, 2, levels)
    const picked = new Map<Level, number>(levels.map((level) => [level, 0]))
    let finish: readonly Outcome[] = []
    for (let n = 0; n < times; n++) {
      const { runs } = await opened.store.claim(request({ weights, limit: 1, finish }))
      const level = levelOf(runs[0]!.priority)
      picked.set(level, picked.get(level)! + 1)
      finish = runs.map(({ lease }) => ({ lease, kind: 'release' }))
    }
    return picked
  }

  it.each<readonly [string, Weights, readonly Level[]]>([
    ['the default weights, on all levels', DEFAULT_WEIGHTS, LEVELS],
    ['only the levels with work count', DEFAULT_WEIGHTS, ['normal', 'background']],
    ['a level that was left out weighs 1', parseWeights({ high: 3 }), ['critical', 'high', 'low']],
    ['a level of weight 0 is left alone while others have work', parseWeights({ critical: 0, high: 2, low: 0 }), LEVELS],
    ['fractions are weights too', parseWeights({ high: 0.5, low: 0.25 }), ['high', 'low']],
  ])('is even-handed: each level is picked as often as its weight says (%s)', async (_, weights, levels) => {
    const times = 500
    const picked = await picks(await open(), weights, levels, times)
    const total = levels.reduce((sum, level) => sum + weights[level], 0)
    for (const level of levels) {
      const share = weights[level] / total
      // Six standard deviations to each side: hardly one run in a million fails without a reason.
      const spread = 6 * Math.sqrt(times * share * (1 - share))
      expect(Math.abs(picked.get(level)! - times * share), level).toBeLessThanOrEqual(spread)
    }
  })
})
