import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const file = fileURLToPath(new URL('kit.mjs', import.meta.url))

/** Runs the file as node:test would; resolves when the process has ended by itself. */
function runTests(): Promise<{ readonly code: unknown; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--test', '--test-reporter=tap', file], (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr })
    })
  })
}

it('node:test shows what fails, and a kit that is left open keeps no process alive', async () => {
  const { code, output } = await runTests()
  expect(output).toMatch(/^\s*ok 1 - holds$/m)
  expect(output).toMatch(/^\s*not ok 2 - does not hold$/m)
  expect(code).toBe(1)
  expect(output).toContain("no pending job of task mail with payload { to: 'ada' }")
  expect(output).toContain("payload.to is 'eve', expected 'ada'")
  expect(output).toContain("code: 'ERR_ASSERTION'")
})
