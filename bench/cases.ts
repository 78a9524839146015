import type { Case } from './case.ts'
import { claimsMemory, claimsSqlite } from './claims.ts'
import { drainFour, drainFourCold, drainKept, drainOne, drainOneCold } from './drain.ts'
import { enqueueBulk, enqueueSingle } from './enqueue.ts'
import { idle } from './idle.ts'
import { latencyOne, latencyTwo } from './latency.ts'
import { log } from './log.ts'
import { million } from './million.ts'

/** Everything that is measured, in the order of the report. Cases of one table stand together. */
export const CASES: readonly Case[] = [
  ...[enqueueBulk, enqueueSingle, drainOne, drainFour, drainOneCold, drainFourCold, drainKept],
  million,
  ...[claimsSqlite, claimsMemory],
  log,
  ...[latencyOne, latencyTwo],
  idle,
]
