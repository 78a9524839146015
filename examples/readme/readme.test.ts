import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

it('the first program of the README runs in an empty folder and prints what the README says', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-readme-'))
  try {
    const program = join(root, 'examples/dist/readme/main.js')
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: folder })
    expect(readme).toContain(readFileSync(join(root, 'examples/readme/main.ts'), 'utf8'))
    expect(stdout).toBe('Hello, Ada!\n')
    expect(readme).toContain(`\`${stdout.trim()}\``)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
