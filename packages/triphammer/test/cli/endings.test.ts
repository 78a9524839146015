import { expect, it } from 'vitest'
import { createEndings, type Endings } from '../../src/cli/endings.ts'
import { type ManualClock, manualClock } from '../../src/core/manual-clock.ts'

interface Watched extends Endings {
  readonly clock: ManualClock
  readonly seen: string[]
}

function watched(): Watched {
  const clock = manualClock()
  const seen: string[] = []
  const hear = (): (() => void) => {
    seen.push('hears')
    return () => void seen.push('hears no more')
  }
  return { clock, seen, ...createEndings({ clock, hear, end: () => void seen.push('ended') }) }
}

it('the process is ended where nobody has anything to bring to an end', () => {
  const { told, onSignal, seen } = watched()
  told('parent')
  expect(seen).toEqual(['ended'])
  onSignal(() => seen.push('told'))()
  told('parent')
  expect(seen).toEqual(['ended', 'hears', 'hears no more', 'ended'])
})

it('signals are heard while someone heeds them, and each is told to all of those', async () => {
  const { told, onSignal, seen, clock } = watched()
  const first = onSignal(() => seen.push('first'))
  const second = onSignal(() => seen.push('second'))
  told('signal')
  first()
  first()
  await clock.advance('1s')
  told('signal')
  second()
  expect(seen).toEqual(['hears', 'first', 'second', 'second', 'hears no more'])
})

it('a signal that comes again within half a second is an echo; a later one hurries', async () => {
  const { told, onSignal, seen, clock } = watched()
  onSignal(() => seen.push('told'))
  told('signal')
  await clock.advance(499)
  told('signal')
  expect(seen).toEqual(['hears', 'told'])
  await clock.advance(1)
  told('signal')
  expect(seen).toEqual(['hears', 'told', 'told'])
})

it.each([
  ['the terminal, then the parent', ['signal', 'parent']],
  ['the parent, then the terminal', ['parent', 'signal']],
  ['all there are', ['parent', 'signal', 'reader']],
] as const)('the same wish by several ways is one: %s', async (_, tellers) => {
  const { told, onSignal, seen, clock } = watched()
  onSignal(() => seen.push('told'))
  for (const teller of tellers) told(teller)
  expect(seen).toEqual(['hears', 'told'])
  await clock.advance('1s')
  for (const teller of tellers.slice(0, 2)) told(teller)
  expect(seen).toEqual(['hears', 'told', 'told'])
})
