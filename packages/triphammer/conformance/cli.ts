import { completed, dead, timedOut } from '../src/core/outcome.ts'
import type { JobState } from '../src/core/state.ts'
import { type Told, triphammer } from '../test/cli/command.ts'
import { type OpenClient, type OpenedClient, sendEmail } from './client.ts'

/** A command line on a fresh store, on a clock that the test moves. */
export interface OpenedCommandLine extends OpenedClient {
  run(argv: readonly string[], world?: Parameters<typeof triphammer>[1]): Promise<Told>
}

/** Opens a store and a command line on it. */
export async function openCommandLine(open: OpenClient): Promise<OpenedCommandLine> {
  const opened = await open()
  const { store, clock } = opened
  return { ...opened, run: (argv, world) => triphammer(argv, { store, clock, ...world }) }
}

/** An id that no job has. */
export const NOBODY = '01890a5d-ac96-774b-bcce-b302099a8057'

/** All states, in the order of {@link inEveryState}. */
export const EVERY_STATE = ['pending', 'running', 'completed', 'dead', 'timed_out', 'failed', 'cancelled'] as const satisfies JobState[]

/** Enqueues one job for each state and brings it there. */
export async function inEveryState({ jobs }: OpenedClient): Promise<Readonly<Record<JobState, string>>> {
  const made = await jobs.enqueueMany(sendEmail, EVERY_STATE)
  const ids = Object.fromEntries(EVERY_STATE.map((state, n) => [state, made[n]!.id])) as Readonly<Record<JobState, string>>
  await jobs.failed(ids.failed, { reason: 'no more' })
  await jobs.cancel(ids.cancelled)
  await jobs.reschedule(ids.pending, { delay: '1h' })
  for (const run of await jobs.claim('default', { max: 9 })) {
    if (run.id === ids.completed) await jobs.finish(run, completed({ sent: true }))
    if (run.id === ids.dead) await jobs.finish(run, dead(new TypeError('no such address')))
    if (run.id === ids.timed_out) await jobs.finish(run, timedOut())
  }
  return ids
}
