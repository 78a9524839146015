import { defineConfig } from 'vitest/config'

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
    // A test that ran is a test that asserted.
    expect: { requireAssertions: true },
  },
})
