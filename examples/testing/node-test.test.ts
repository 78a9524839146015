import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('the same kit works under node:test', async () => {
  const file = fileURLToPath(new URL('../dist/testing/sign-up.node.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file])
  expect(stdout).toMatch(/^# pass 2$/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})
