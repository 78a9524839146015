import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defineTask } from '../../src/core/task.ts'
import { createClient } from '../../src/index.ts'

it('createClient() alone keeps its jobs in .triphammer/jobs.db of the folder that it was made in', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-default-'))
  const before = process.cwd()
  try {
    process.chdir(folder)
    const jobs = createClient()
    expect(existsSync(join(folder, '.triphammer'))).toBe(false) // nothing is opened before the first call
    process.chdir(before)
    const { id } = await jobs.enqueue(defineTask('work'), { n: 1 })
    expect(existsSync(join(folder, '.triphammer', 'jobs.db'))).toBe(true)
    await jobs.close()
    process.chdir(folder)
    await using again = createClient()
    expect(await again.get(id)).toMatchObject({ state: 'pending', payload: { n: 1 } })
  } finally {
    process.chdir(before)
    rmSync(folder, { recursive: true, force: true })
  }
})
