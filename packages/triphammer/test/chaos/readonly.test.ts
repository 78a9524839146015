import { chmodSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { afterwards, freshFile, runChild, storeOn } from '../sqlite/place.ts'
import { createPlace, plain, startWorker, TIME, until } from './processes.ts'

// Root may write anything, so nobody is asked.
const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined
// Connections of one process share the index of the log: opened to be read only, it stays so until the last of them is gone.
const setting = { ...identity, nodeOptions: ['--expose-gc'] }

function permit(folder: string, may: 'read' | 'write'): void {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), may === 'read' ? 0o444 : 0o666)
  chmodSync(folder, may === 'read' ? 0o555 : 0o777)
}

const LOOK_AND_ENQUEUE = `
  const store = sqlite(args[0])
  const told = (promise) => promise.then((value) => value, ({ code, message }) => ({ code, message }))
  const job = { id: createIds().next(), task: 'plain', queue: 'default', payload: '1', priority: 0, maxAttempts: 1 }
  const looked = await told(store.admin.count({}))
  const enqueued = await told(store.enqueue([job]))
  const lookedAgain = await told(store.admin.count({}))
  await store.close()
  console.log(JSON.stringify({ looked, enqueued, lookedAgain }))`

async function lookAndEnqueue(file: string): Promise<Record<string, unknown>> {
  return JSON.parse(await runChild(LOOK_AND_ENQUEUE, [file], identity ? { identity } : {}).ended) as Record<string, unknown>
}

it('a file and a folder that may only be read: looking works, writing says why, a worker waits until it may', TIME, async () => {
  const { file, jobs, worker, finishes } = await createPlace()
  const folder = dirname(file)
  const ids = (await jobs.enqueueMany(plain, Array.from({ length: 5 }))).map(({ id }) => id)
  afterwards(() => permit(folder, 'write'))
  permit(folder, 'read')

  const five = [{ key: 'all', count: 5 }]
  const refused = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('check the permissions of the file and its folder') }
  expect(await lookAndEnqueue(file)).toMatchObject({ looked: five, enqueued: refused, lookedAgain: five })
  const one = worker('works', {}, setting)
  await until(() => one.count('up') === 1)
  expect(one.lines).toContainEqual({ what: 'unavailable', ...refused })
  expect(await jobs.countBy('state')).toEqual({ pending: 5 })

  permit(folder, 'write')
  await until(async () => (await jobs.count({ state: 'completed' })) === 5)
  await until(() => one.count('available') === 1)
  expect(finishes()).toEqual(ids.sort())
  expect(one.lines.map(({ what }) => what)).toEqual(expect.not.arrayContaining(['unhandled', 'warning', 'lost']))
  expect(one.count('unavailable')).toBe(1)
  expect(await one.end()).toBe(0)
  expect(await lookAndEnqueue(file)).toMatchObject({ enqueued: [{ status: 'inserted' }] })
})

it('a folder that may only be read and has no file yet: everyone says so, and a worker begins when it may', TIME, async () => {
  const file = freshFile()
  const folder = dirname(file)
  afterwards(() => permit(folder, 'write'))
  permit(folder, 'read')
  const refused = {
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('check that its folder exists and that both may be read and written'),
  }
  expect(await lookAndEnqueue(file)).toMatchObject({ looked: refused, enqueued: refused })
  const one = startWorker(file, 'works', {}, setting)
  await until(() => one.count('up') === 1)
  expect(one.lines).toContainEqual({ what: 'unavailable', ...refused })
  expect(readdirSync(folder)).toEqual([])

  permit(folder, 'write')
  await until(() => one.count('available') === 1)
  expect(await lookAndEnqueue(file)).toMatchObject({ enqueued: [{ status: 'inserted' }] })
  const store = storeOn(file)
  await until(async () => (await store.admin.count({}, 'state'))[0]?.key === 'completed')
  expect([one.count('unavailable'), one.count('unhandled'), one.count('warning')]).toEqual([1, 0, 0])
  expect(await one.end()).toBe(0)
})

it('a folder that may not be looked into any more: whoever has the file open works on', TIME, async () => {
  const { file, jobs, worker, finishes } = await createPlace()
  const folder = dirname(file)
  permit(folder, 'write')
  const one = worker('works', {}, setting)
  await until(() => one.count('up') === 1)
  const first = (await jobs.enqueueMany(plain, Array.from({ length: 5 }))).map(({ id }) => id)
  await until(async () => (await jobs.count({ state: 'completed' })) === 5)
  afterwards(() => chmodSync(folder, 0o777))
  chmodSync(folder, 0)
  const then = (await jobs.enqueueMany(plain, Array.from({ length: 5 }))).map(({ id }) => id)
  await until(async () => (await jobs.count({ state: 'completed' })) === 10)
  expect(finishes()).toEqual([...first, ...then].sort())
  expect([one.count('unavailable'), one.count('unhandled'), one.count('warning')]).toEqual([0, 0, 0])
  expect(await one.end()).toBe(0)
})
