import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestKit } from 'triphammer/testing'
import { createHandlers, sendWelcome, signUp } from './sign-up.ts'

const ada = { email: 'ada@example.org', name: 'Ada' }

void test('signing up sends a welcome', async () => {
  const sent: string[] = []
  const t = createTestKit({ handlers: createHandlers(async (to, text) => void sent.push(`${to}: ${text}`)) })
  await signUp(ada, t.jobs)
  t.assertEnqueued(sendWelcome, { to: ada.email })
  await t.drain()
  assert.deepEqual(sent, ['ada@example.org: Welcome, Ada!'])
})

void test('a welcome is tried three times', async () => {
  const t = createTestKit({ handlers: createHandlers(() => Promise.reject(new Error('no mail today'))) })
  await signUp(ada, t.jobs)
  const { retried, dead } = await t.drain({ scheduled: true })
  assert.deepEqual({ retried, dead }, { retried: 2, dead: 1 })
})
