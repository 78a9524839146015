// A file of node:test, run in a process of its own. Nothing is closed, and a handler hangs: the process has to end all the same.
import { test } from 'node:test'
import { defineTask } from 'triphammer'
import { createTestKit } from 'triphammer/testing'
import { handle } from 'triphammer/worker'

const mail = defineTask('mail', { timeout: '30s' })

test('holds', async () => {
  const t = createTestKit({ handlers: [handle(mail, () => new Promise(() => {}))] })
  await t.jobs.enqueue(mail, { to: 'ada' })
  t.assertEnqueued(mail, { to: 'ada' })
  await t.worker.start()
  await t.clock.advance('1s')
  t.assertEnqueued(mail, {}, { state: 'running' })
  void t.perform(mail, { to: 'eve' })
})

test('does not hold', async () => {
  const t = createTestKit()
  await t.jobs.enqueue(mail, { to: 'eve' })
  t.assertEnqueued(mail, { to: 'ada' })
})
