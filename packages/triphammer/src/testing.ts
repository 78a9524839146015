/**
 * The test kit: the memory store, a client and real runs on a clock that a test moves.
 *
 * @module
 */

export { type ManualClock, manualClock } from './core/manual-clock.ts'
export type { EnqueuedMatch } from './testing/assertions.ts'
export type { Drained, DrainOptions } from './testing/drain.ts'
export type { Partially, Stored, TestJob } from './testing/job.ts'
export { createTestKit, type PerformArgs, type TestKit, type TestKitOptions } from './testing/kit.ts'
export type { JobMatch } from './testing/match.ts'
export type { Performed, PerformOptions } from './testing/perform.ts'
