import { expect, it } from 'vitest'
import type { Finding } from '../src/store/health.ts'
import { sessionInfo } from './builders.ts'
import { forEachClient, type OpenedClient, refused, sendEmail } from './client.ts'

async function findingOf({ jobs }: OpenedClient, check: string): Promise<Finding> {
  const { findings, healthy } = await jobs.doctor()
  expect(healthy).toBe(findings.every(({ level }) => level !== 'problem'))
  const found = findings.find((finding) => finding.check === check)
  return found ?? expect.fail(`nothing was said about ${check}: ${JSON.stringify(findings)}`)
}

forEachClient('the doctor', (open) => {
  it('finds nothing wrong with an empty store', async () => {
    const { jobs } = await open()
    const { healthy, findings } = await jobs.doctor({ deep: true })
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([])
    expect(findings.filter(({ advice }) => advice !== undefined)).toEqual([])
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['schema', 'workers', 'foreign tasks', 'oldest job', 'paused queues', 'leases', 'unsuccessful jobs', 'clock']),
    )
    expect(healthy).toBe(true)
  })

  it('due jobs and no worker are a problem, until there is one', async () => {
    const opened = await open()
    const { jobs, store, clock } = opened
    await jobs.enqueue(sendEmail, {}, { delay: '1h' })
    expect(await findingOf(opened, 'workers')).toMatchObject({ level: 'ok' })
    await jobs.enqueue(sendEmail, {})
    expect(await findingOf(opened, 'workers')).toMatchObject({
      level: 'problem',
      message: expect.stringContaining('default'),
      advice: 'start a worker',
    })
    await store.beat(sessionInfo({ concurrency: 7, running: 2, held: 3 }))
    expect(await findingOf(opened, 'workers')).toEqual({
      check: 'workers',
      level: 'ok',
      message: '1 worker with 7 slots: 2 running, 3 held',
    })
    await clock.advance('31s')
    expect(await findingOf(opened, 'workers')).toMatchObject({
      level: 'problem',
      message: expect.stringMatching(/no worker is alive.*1 more not heard of/),
    })
  })

  it('due jobs of a task that no worker of their queue handles', async () => {
    const opened = await open()
    const { jobs, store } = opened
    await jobs.enqueueMany(sendEmail, [{}, {}])
    await jobs.enqueue(sendEmail, {}, { queue: 'other' })
    await jobs.enqueue(sendEmail, {}, { delay: '1h', queue: 'later' })
    expect((await findingOf(opened, 'foreign tasks')).level).toBe('ok') // nobody to compare with: that is another finding
    await store.beat(sessionInfo({ tasks: ['resize'] }))
    expect(await findingOf(opened, 'foreign tasks')).toMatchObject({
      level: 'problem',
      message: 'due jobs that no live worker handles: 2 of "send_email" in "default", 1 of "send_email" in "other"',
    })
    await store.beat(sessionInfo({ tasks: ['send_email'] }))
    expect((await findingOf(opened, 'foreign tasks')).message).toBe('due jobs that no live worker handles: 1 of "send_email" in "other"')
    await store.beat(sessionInfo({ tasks: ['send_email'], queues: ['default', 'other'] }))
    expect((await findingOf(opened, 'foreign tasks')).level).toBe('ok')
  })

  it('how long the oldest due job has waited', async () => {
    const opened = await open()
    const { jobs, clock } = opened
    await jobs.enqueue(sendEmail, {}, { runAt: clock.now() - 5_000, priority: 'background' })
    await jobs.enqueue(sendEmail, {}, { queue: 'mail' })
    expect(await findingOf(opened, 'oldest job')).toEqual({ check: 'oldest job', level: 'ok', message: 'due for 5s, in "default"' })
    await clock.advance('2m')
    expect(await findingOf(opened, 'oldest job')).toMatchObject({ level: 'warning', message: 'due for 2m 5s, in "default"' })
    await jobs.pause('default')
    expect((await findingOf(opened, 'oldest job')).message).toBe('due for 2m, in "mail"')
  })

  it('queues that hold jobs back', async () => {
    const opened = await open()
    await opened.jobs.pause('mail', { by: 'ada' })
    expect((await findingOf(opened, 'paused queues')).level).toBe('ok')
    await opened.jobs.enqueue(sendEmail, {}, { queue: 'mail' })
    await opened.clock.advance('3h')
    expect(await findingOf(opened, 'paused queues')).toMatchObject({
      level: 'warning',
      message: '"mail" holds 1 job, paused by "ada" 3h ago',
    })
  })

  it('leases that nobody reclaims', async () => {
    const opened = await open()
    const { jobs, clock } = opened
    await jobs.enqueueMany(sendEmail, [{}, {}])
    await jobs.claim('default', { max: 1, lease: '10s' })
    await jobs.claim('default', { max: 1, lease: '1h' })
    await clock.advance('69s')
    expect(await findingOf(opened, 'leases')).toMatchObject({ level: 'ok', message: '2 running, none overdue' })
    await clock.advance('2s')
    expect(await findingOf(opened, 'leases')).toMatchObject({
      level: 'problem',
      message: expect.stringMatching(/^1 of 2 running are overdue/),
    })
    await jobs.reclaim()
    expect((await findingOf(opened, 'leases')).level).toBe('ok')
  })

  it('jobs that did not succeed lately', async () => {
    const opened = await open()
    const { jobs, clock } = opened
    const [a, b] = await jobs.enqueueMany(sendEmail, [{}, {}])
    await jobs.kill(a!.id)
    await jobs.cancel(b!.id)
    expect(await findingOf(opened, 'unsuccessful jobs')).toMatchObject({ level: 'warning', message: '1 kept, 1 of them from the last 1d' })
    await clock.advance('25h')
    expect(await findingOf(opened, 'unsuccessful jobs')).toMatchObject({ level: 'ok', message: '1 kept, 0 of them from the last 1d' })
  })

  it('a clock that has been set back', async () => {
    const opened = await open()
    const { jobs, clock } = opened
    await jobs.enqueue(sendEmail, {})
    clock.setWallClock(clock.now() - 50_000)
    expect((await findingOf(opened, 'clock')).level).toBe('ok')
    clock.setWallClock(clock.now() - 2 * 3_600_000)
    expect(await findingOf(opened, 'clock')).toMatchObject({ level: 'warning', message: expect.stringMatching(/2h ahead/) })
  })

  it('changes nothing', async () => {
    const { jobs, store } = await open()
    await jobs.enqueueMany(sendEmail, [{}, {}])
    await jobs.claim('default', { max: 1 })
    const before = (await store.admin.find({}, { limit: 10, order: 'oldest' })).jobs
    await jobs.doctor({ deep: true })
    expect((await store.admin.find({}, { limit: 10, order: 'oldest' })).jobs).toEqual(before)
  })

  it('a store that cannot be used is a finding and no error', async () => {
    const { jobs } = await open()
    await jobs.close()
    const { healthy, findings } = await jobs.doctor()
    expect(healthy).toBe(false)
    expect(findings).toMatchObject([{ check: 'store', level: 'problem' }])
  })

  it('is told only what it knows', async () => {
    const { jobs } = await open()
    await refused(() => jobs.doctor({ depth: 1 } as never), 'UNKNOWN_OPTION', /"depth"/)
    await refused(() => jobs.doctor({ deep: 'yes' } as never), 'INVALID_OPTION', /deep/)
  })
})
