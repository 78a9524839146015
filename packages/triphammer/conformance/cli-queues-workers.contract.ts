import { expect, it } from 'vitest'
import { openCommandLine } from './cli.ts'
import { forEachClient, sendEmail } from './client.ts'

forEachClient('command line: workers', (open) => {
  it('lists those that were heard of', async () => {
    const { run, store, clock, ids, jobs } = await openCommandLine(open)
    expect(await run(['workers', 'list'])).toMatchObject({ code: 0, out: 'No worker has been heard of.\n', err: '' })
    const session = {
      ...{ id: ids.next(), host: 'a\u001b[2J', pid: 4_711, startedAt: clock.now(), queues: ['mail', 'images'], tasks: ['send_email'] },
      ...{ concurrency: 20, running: 3, held: 7, idle: [] },
    }
    await store.beat(session)
    await clock.advance('12s')
    expect((await run(['workers', 'list', '--json'])).json()).toEqual(await jobs.workers())
    const { out } = await run(['workers', 'list'])
    expect(out.replaceAll(/ {2,}/g, ' | ')).toBe(
      `ID | HOST | PID | SEEN | RUNNING | HELD | QUEUES | TASKS\n${session.id} | a\\u001b[2J | 4711 | 12s ago | 3/20 | 7 | mail, images | send_email\n`,
    )
    for (const columns of [40, 80, 200]) {
      const fitted = (await run(['workers', 'list'], { columns })).out.trimEnd().split('\n')
      expect(fitted[1]).toContain(session.id)
      if (columns > 40) for (const line of fitted) expect(line.length).toBeLessThanOrEqual(columns)
    }
  })
})

forEachClient('command line: queues', (open) => {
  it('are listed with who has paused them and why, fitted to the terminal', async () => {
    const { run, jobs } = await openCommandLine(open)
    await jobs.enqueueMany(sendEmail, [1, 2, 3], { queue: 'mail' })
    expect(await run(['queues', 'list'])).toMatchObject({
      code: 0,
      err: '',
      out: 'QUEUE  PENDING  RUNNING  WAITING  PAUSED  BY  REASON\nmail         3        0      0ms\n',
    })
    const reason = 'the mail service is down and will be so until tomorrow'
    expect(await run(['queues', 'pause', 'mail', '--by', 'ada', '--reason', reason])).toMatchObject({
      code: 0,
      out: 'mail is paused: 3 pending, 0 running.\n',
    })
    expect(await jobs.claim('mail')).toEqual([])
    expect((await run(['queues', 'list'])).out).toContain(`since 2026-01-01T00:00:00Z  ada  ${reason}\n`)
    const fitted = (await run(['queues', 'list'], { columns: 80 })).out.trimEnd().split('\n')
    expect(fitted[1]).toMatch(/^mail .* {2}ada {2}the mail .*…$/)
    for (const line of fitted) expect(line.length).toBeLessThanOrEqual(80)
    expect((await run(['queues', 'list', '--json'])).json()).toEqual(await jobs.queues())
    expect(await run(['queues', 'resume', 'mail'])).toMatchObject({ code: 0, out: 'mail is not paused: 3 pending, 0 running.\n' })
    expect(await jobs.claim('mail')).toHaveLength(1)
  })
})
