import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { createScenarioReporter } from './tools/scenario-reporter/scenario-reporter.ts'

const { SCENARIOS: wanted, CI: isCi } = process.env
const difference = wanted === 'update' || wanted === 'tell' ? wanted : isCi === 'true' ? 'fail' : 'tell'

export default defineConfig({
  test: {
    include: [
      'packages/triphammer/conformance/**/*.contract.ts',
      'packages/triphammer/test/**/*.test.ts',
      'examples/**/*.test.ts',
      'tools/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**'],
    // Real processes: tests send signals, open files and start children.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    // A test that asserts nothing cannot fail.
    expect: { requireAssertions: true },
    // The order matters: the table and the closing line come last.
    reporters: ['default', createScenarioReporter({ file: fileURLToPath(new URL('docs/scenarios.txt', import.meta.url)), difference })],
  },
})
