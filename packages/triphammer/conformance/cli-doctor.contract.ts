import { expect, it } from 'vitest'
import { triphammer } from '../test/cli/command.ts'
import { sessionInfo } from './builders.ts'
import { forEachClient, sendEmail } from './client.ts'

forEachClient('triphammer doctor', (open) => {
  it('says that all is well', async () => {
    const { store, clock } = await open()
    const told = await triphammer(['doctor'], { store, clock })
    expect(told).toMatchObject({ code: 0, err: '' })
    expect(told.out).toMatch(/^✔ schema {2,}/m)
    expect(told.out).toMatch(/\n\nAll is well\.\n$/)
  })

  it('says what is wrong and what to do, with exit code 1', async () => {
    const { store, clock, jobs } = await open()
    await jobs.enqueue(sendEmail, {}, { queue: 'a\u001b[31mb' })
    await jobs.kill((await jobs.enqueue(sendEmail, {})).id)
    const told = await triphammer(['doctor'], { store, clock })
    expect(told.code).toBe(1)
    expect(told.out).toMatch(/^✘ workers +no worker is alive, and jobs are due in a\\u001b\[31mb\n +→ start a worker$/m)
    expect(told.out).toMatch(/\n\n1 problem, 1 warning\n$/)
    expect(told.out).not.toContain('\u001b')
  })

  it('is JSON for programs', async () => {
    const { store, clock, jobs } = await open()
    await jobs.enqueue(sendEmail, {})
    const told = await triphammer(['doctor', '--json', '--deep'], { store, clock })
    expect(told.code).toBe(1)
    expect(told.json()).toMatchObject({
      healthy: false,
      findings: expect.arrayContaining([{ check: 'oldest job', level: 'ok', message: 'due for 0ms, in "default"' }]),
    })
  })

  it('warnings are exit code 0, or 1 with --strict', async () => {
    const { store, clock, jobs } = await open()
    await store.beat(sessionInfo())
    await jobs.kill((await jobs.enqueue(sendEmail, {})).id)
    expect(await triphammer(['doctor'], { store, clock })).toMatchObject({ code: 0, out: expect.stringMatching(/\n\n1 warning\n$/) })
    expect((await triphammer(['doctor', '--strict'], { store, clock })).code).toBe(1)
  })
})

it('a database that is not there is a finding; a store that cannot be meant is a mistake', async () => {
  const told = await triphammer(['doctor', '--store', '/nowhere/jobs.db', '--json'])
  expect(told.code).toBe(1)
  expect(told.json()).toMatchObject({
    healthy: false,
    findings: [{ check: 'store', level: 'problem', message: expect.stringContaining('/nowhere/jobs.db') }],
  })
  expect((await triphammer(['doctor', '--store', 'oracle://x'])).code).toBe(2)
})
