import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { clientOn } from '../../../src/client/client.ts'
import { sleep, systemClock } from '../../../src/core/clock.ts'
import { defineTask } from '../../../src/core/task.ts'
import { sqlite } from '../../../src/sqlite.ts'

interface Line {
  readonly started?: string
  readonly told?: string
  readonly at?: number
  readonly code?: string
}

it('a running job is told of its cancel within a second, by another process, and so is that of a forced one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-cancel-'))
  const file = join(folder, 'jobs.db')
  await using jobs = clientOn({ store: sqlite(file), logger: false })
  await jobs.migrate()
  const child = spawn(process.execPath, [fileURLToPath(new URL('cancel.mjs', import.meta.url)), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const reader = createInterface({ input: child.stdout })
    const next = async (): Promise<Line> => JSON.parse(String((await once(reader, 'line'))[0])) as Line
    const waits: number[] = []
    // Other places between two pulses of the worker.
    for (const [at, ms] of [0, 130, 290, 450, 610, 770, 930].entries()) {
      const started = next()
      const { id } = await jobs.enqueue(defineTask('work'), {})
      expect(await started).toEqual({ started: id })
      await sleep(systemClock, ms)
      const force = at % 2 === 1
      const told = next()
      const asked = systemClock.now()
      await jobs.cancel(id, { force })
      const line = await told
      expect(line).toMatchObject({ told: id, code: force ? 'LEASE_LOST' : 'CANCELLED' })
      waits.push(line.at! - asked)
      while ((await jobs.get(id))?.state === 'running') await sleep(systemClock, 5)
      expect(await jobs.get(id)).toMatchObject({ state: 'cancelled', attempt: 1 })
    }
    // Measured: 35 to 215 ms, since the write of the cancel wakes the worker; a pulse alone would take up to a second.
    for (const waited of waits) expect(waited).toBeLessThan(1_000)
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
    rmSync(folder, { recursive: true, force: true })
  }
})
