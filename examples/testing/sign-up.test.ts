import { createTestKit } from 'triphammer/testing'
import { expect, it, vi } from 'vitest'
import { askBack, createHandlers, type Send, sendWelcome, signUp } from './sign-up.ts'

const ada = { email: 'ada@example.org', name: 'Ada' }

it('signing up sends a welcome, and asks back after three days', async () => {
  const send = vi.fn<Send>(async () => {})
  const t = createTestKit({ handlers: createHandlers(send) })

  await signUp(ada, t.jobs)
  t.assertEnqueued(sendWelcome, { to: ada.email }, { queue: 'mail', count: 1 })

  await t.drain() // what is due, and what that enqueues
  expect(send).toHaveBeenCalledWith(ada.email, 'Welcome, Ada!', expect.any(AbortSignal))
  t.assertEnqueued(askBack, { to: ada.email }, { delay: '3d' })

  expect(await t.drain({ scheduled: '3d' })).toMatchObject({ completed: 1 }) // the clock moves, and nobody waits
  t.assertNotEnqueued()
})

it('signing up enqueues nothing when it fails', async () => {
  const t = createTestKit() // no handlers: enough to look at what is enqueued
  await expect(signUp({ ...ada, email: 'ada' }, t.jobs)).rejects.toThrow('no address')
  t.assertNotEnqueued(sendWelcome)
})

it('a welcome is given up after a third failure', async () => {
  const t = createTestKit({ handlers: createHandlers(() => Promise.reject(new Error('no mail today'))) })
  await signUp(ada, t.jobs)
  expect(await t.drain({ scheduled: true })).toMatchObject({ retried: 2, dead: 1 })
  t.assertEnqueued(sendWelcome, { to: ada.email }, { state: 'dead' })
})

it('a worker at work tries again after a minute', async () => {
  const send = vi.fn<Send>(async () => {}).mockRejectedValueOnce(new Error('busy'))
  const t = createTestKit({ handlers: createHandlers(send) })
  await signUp(ada, t.jobs)
  await t.worker.start()
  await t.clock.advance('5m') // what falls due on the way starts
  await t.worker.idle() // what has started ends
  expect(send).toHaveBeenCalledTimes(2)
  await t.close()
})

it('a welcome fails with what the mail service says', async () => {
  const broken = new Error('no mail today')
  const t = createTestKit({ handlers: createHandlers(() => Promise.reject(broken)) })
  const { outcome, error, delayMs, enqueued } = await t.perform(sendWelcome, { to: ada.email, name: ada.name })
  expect([outcome, error, delayMs, enqueued]).toEqual(['retry', broken, 60_000, []])
})

it('a welcome takes no longer than its time limit', async () => {
  const t = createTestKit({ handlers: createHandlers(() => new Promise(() => {})) })
  const running = t.perform(sendWelcome, { to: ada.email, name: ada.name }, { attempt: 3 })
  await t.clock.advance('30s')
  expect((await running).outcome).toBe('timed_out')
})
