import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('an idle worker weighs less than 90 MB', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-idle-'))
  try {
    const script = fileURLToPath(new URL('idle.mjs', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [script, join(folder, 'jobs.db')])
    const { rssBytes } = JSON.parse(stdout) as { readonly rssBytes: number }
    expect(rssBytes).toBeGreaterThan(0)
    expect(rssBytes).toBeLessThan(90_000_000)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
