// The processes that the benchmark starts: node child.js <part> <assignment as JSON>. Each gets itself ready, does its part when
// it is told to, and reports.

import type { Said, Word } from './crew.ts'
import { drainPart } from './drain-part.ts'
import { idlePart, nothingPart } from './idle-parts.ts'
import { wakenPart, wokenPart } from './latency-parts.ts'
import type { Part } from './part.ts'

const PARTS: Readonly<Record<string, Part>> = {
  drain: drainPart,
  idle: idlePart,
  nothing: nothingPart,
  waken: wakenPart,
  woken: wokenPart,
}

const words = new Set<Word>()
let onWord = (): void => {}
process.on('message', (word: Word) => {
  words.add(word)
  onWord()
})
async function hear(word: Word): Promise<void> {
  while (!words.has(word)) {
    await new Promise<void>((resolve) => {
      onWord = resolve
    })
  }
}
function say(said: Said<unknown>): void {
  process.send!(said)
}

let reported = false
process.once('disconnect', () => process.exit(reported ? 0 : 1))

const [name = '', assignment = ''] = process.argv.slice(2)
const part = PARTS[name]
if (!part) throw new Error(`there is no part ${name}`)
const report = await part(JSON.parse(assignment) as never, {
  async begin() {
    say({ kind: 'ready' })
    await hear('go')
  },
  stopped: () => hear('stop'),
})
reported = true // the parent takes it and hangs up
say({ kind: 'report', report })
