import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clientOn } from '../../src/client/client.ts'
import { defineTask } from '../../src/core/task.ts'
import type { Store } from '../../src/store/store.ts'
import { handle } from '../../src/worker/handler.ts'
import { createWorker } from '../../src/worker/worker.ts'
import { freshFile, storeOn } from './place.ts'

const work = defineTask('work')

function letter(): Store {
  const file = freshFile('letter.txt')
  writeFileSync(file, 'Dear Sir or Madam, '.repeat(100))
  return storeOn(file)
}

it.each<readonly [string, () => Store, string, RegExp]>([
  ['a file that is no database', letter, 'NOT_A_DATABASE', /letter\.txt/],
  ['tables that are missing', () => storeOn(freshFile(), { migrate: false }), 'SCHEMA_MISSING', /run `triphammer migrate`/],
])('%s: a client and a worker say so, and the worker does not wait for it to mend', async (_, open, code, words) => {
  const store = open()
  const refusal = { code, message: expect.stringMatching(words) }
  await expect(clientOn({ store, logger: false }).enqueue(work, {})).rejects.toMatchObject(refusal)
  const worker = createWorker({ store, handlers: [handle(work, () => {})], logger: false })
  await expect(worker.start()).rejects.toMatchObject(refusal)
  await expect(worker.run({ signals: false })).rejects.toMatchObject(refusal)
  await expect(worker.runOnce()).rejects.toMatchObject(refusal)
})
