import { expect, it } from 'vitest'
import { completed } from './builders.ts'
import { forEachStore } from './harness.ts'

forEachStore(
  'results',
  (open) => {
    it.each(['null', 'true', '0', '"text"', '[1,{"a":null}]', '{"a":{"b":[1.5,"ü"]}}'])('keeps %s as the result', async (result) => {
      const { store, add, claim, find } = await open()
      const id = await add()
      const [run] = await claim()
      await store.finish([completed(run!, result)])
      expect(JSON.parse((await find(id))!.result!)).toEqual(JSON.parse(result))
    })

    it('no result is no property', async () => {
      const { store, add, claim, find } = await open()
      const id = await add()
      await store.finish([completed((await claim())[0]!)])
      expect(await find(id)).not.toHaveProperty('result')
    })

    it('of the longest length that it says', async () => {
      const { store, add, claim, find } = await open()
      const { maxBytes } = store.facets.results!
      const result = JSON.stringify('x'.repeat(maxBytes - 2))
      const id = await add()
      await store.finish([completed((await claim())[0]!, result)])
      expect((await find(id))?.result === result).toBe(true)
    })

    it('a stale result is not kept', async () => {
      const { store, add, claim, find } = await open()
      const id = await add()
      const [run] = await claim()
      await store.finish([completed(run!, '"first"')])
      await store.finish([completed(run!, '"second"')])
      expect((await find(id))?.result).toBe('"first"')
    })
  },
  { needs: ['results'] },
)
