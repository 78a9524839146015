import { describe, expect, it } from 'vitest'
import { showProgress } from '../../src/cli/progress.ts'
import type { World } from '../../src/cli/world.ts'
import { manualClock } from '../../src/core/manual-clock.ts'
import { memory } from '../../src/memory.ts'
import { triphammer } from './command.ts'

function watched(isInteractive: boolean): {
  readonly world: World
  readonly told: () => string
  readonly pass: (by: string) => Promise<void>
} {
  const clock = manualClock()
  let told = ''
  const err = (text: string): void => {
    told += text
  }
  const world = { clock, isInteractive, columns: 100, err } as unknown as World
  return { world, told: () => told, pass: (by) => clock.advance(by) }
}

describe('progress', () => {
  it('without a terminal is a line now and then', async () => {
    const { world, told, pass } = watched(false)
    const progress = showProgress(world, 'jobs', 3_000)
    progress.reach(1_000)
    expect(told()).toBe('')
    await pass('5s')
    progress.reach(2_000)
    progress.reach(2_500)
    await pass('5s')
    progress.reach(3_500)
    progress.end()
    expect(told()).toBe('2000 of 3000 jobs\n3500 of 3500 jobs\n')
  })

  it('without a terminal does without a total', async () => {
    const { world, told, pass } = watched(false)
    const progress = showProgress(world, 'jobs', undefined)
    await pass('5s')
    progress.reach(2_000)
    expect(told()).toBe('2000 jobs\n')
  })

  it('in a terminal is a bar that is wiped away, and nothing where the work was soon done', async () => {
    const { world, told, pass } = watched(true)
    const soon = showProgress(world, 'jobs', 10)
    soon.reach(10)
    soon.end()
    expect(told()).toBe('')
    const progress = showProgress(world, 'jobs', 3_000)
    await pass('1s')
    progress.reach(1_500)
    expect(told()).toContain('50%  1500 of 3000 jobs')
    progress.reach(4_000)
    progress.end()
    expect(told()).toContain('100%  4000 of 4000 jobs')
    // Wrapping and the cursor are as they were.
    expect(told()).not.toContain('\u001b[?')
    expect(told().endsWith('\u001b[1G\u001b[2K')).toBe(true)
    progress.end()
  })

  it('of a command tells how many jobs it has changed, and is not told with --json', async () => {
    const clock = manualClock()
    // Each change takes five seconds.
    const plain = memory({ clock })
    const store: typeof plain = {
      ...plain,
      admin: {
        ...plain.admin,
        async apply(...call) {
          await clock.advance('5s')
          return plain.admin.apply(...call)
        },
      },
    }
    const input = '1\n'.repeat(1_200)
    await triphammer(['jobs', 'enqueue', 'a', '--lines'], { store, clock, input })
    const told = await triphammer(['jobs', 'reprioritise', '--task', 'a', '--to', 'low'], { store, clock })
    expect(told).toMatchObject({ code: 0, out: '1200 jobs reprioritised.\n', err: '1 jobs\n501 jobs\n1001 jobs\n' })
    const json = await triphammer(['jobs', 'reprioritise', '--task', 'a', '--to', 'low', '--json'], { store, clock })
    expect(json).toMatchObject({ code: 0, err: '' })
    const bar = await triphammer(['jobs', 'reprioritise', '--task', 'a', '--to', 'low'], { store, clock, isInteractive: true })
    expect(bar.err).toContain('of 1200 jobs')
  })
})
