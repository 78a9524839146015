import { EventEmitter } from 'node:events'
import type * as Fs from 'node:fs'
import { writeFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { manualClock } from '../../src/core/manual-clock.ts'
import { createWakeups } from '../../src/stores/sqlite/wakeups.ts'
import { afterwards, freshFile } from './place.ts'

// The watches of the file system, by hand.
class Watch extends EventEmitter {
  isOpen = true
  close(): void {
    this.isOpen = false
  }
}
const watches: Watch[] = []
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof Fs>()),
  watch() {
    const watch = new Watch()
    watches.push(watch)
    return watch
  },
}))

it('after one report the watch is off for a moment, and then it is on again', async () => {
  const file = freshFile()
  writeFileSync(`${file}-wal`, '')
  const clock = manualClock()
  let isWritten = false
  let looks = 0
  const wakeups = createWakeups(file, clock, () => {
    looks++
    return isWritten
  })
  let wakes = 0
  const unsubscribe = wakeups.subscribe(['default'], () => void wakes++)
  afterwards(unsubscribe)
  const open = (): number => watches.filter((watch) => watch.isOpen).length

  expect([watches.length, open()]).toEqual([1, 1])
  watches[0]!.emit('change', 'change')
  expect(open()).toBe(0)
  await clock.advance('19ms')
  wakeups.arm() // a connection is opened meanwhile
  expect([watches.length, open()]).toEqual([1, 0])
  await clock.advance('1ms')
  expect([watches.length, open()]).toEqual([2, 1])
  isWritten = true
  watches[1]!.emit('change', 'change')
  await clock.advance('1ms')
  expect([wakes, open()]).toEqual([1, 0])

  unsubscribe()
  const before = looks
  await clock.advance('1s')
  expect([watches.length, looks]).toEqual([2, before])
})
