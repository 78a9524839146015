import type { JobState } from '../../../core/state.ts'
import type { Changed, Client } from '../../../index.ts'
import type { JobTarget } from '../../job-target.ts'

type Counts = Partial<Readonly<Record<JobState, number>>>

/** What a command would do. */
export interface Foreseen extends Changed {
  /** How many jobs it would change, by the state that they are in now. */
  readonly change: Counts
  /** How many jobs are meant as well, in states that it does not apply to. */
  readonly leave: Counts
}

/** The most jobs on a page, and so the most ids that one call is given. */
const PART = 1_000

/** Ids in parts, each for one call: a million of them is no reason for one statement that holds them all. */
export function inParts(ids: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(ids.length / PART) }, (_, n) => ids.slice(n * PART, (n + 1) * PART))
}

/** What would become of the jobs of a target, as they are now. */
export async function foresee(client: Client, target: JobTarget, applies: (state: JobState) => boolean): Promise<Foreseen> {
  const none = { refused: [], missing: [] }
  if ('filter' in target) return { ...split(await client.countBy('state', target.filter), applies), ...none }
  const ids = [...new Set(target.ids.map((id) => id.toLowerCase()))]
  const states = new Map<string, JobState>()
  for (const part of inParts(ids)) {
    const { jobs } = await client.list({ id: part }, { limit: PART })
    for (const { id, state } of jobs) states.set(id, state)
  }
  return {
    ...split(tally(states.values()), applies),
    refused: [...states].filter(([, state]) => !applies(state)).map(([id, state]) => ({ id, state })),
    missing: ids.filter((id) => !states.has(id)),
  }
}

function split(counts: Counts, applies: (state: JobState) => boolean): Pick<Foreseen, 'changed' | 'change' | 'leave'> {
  const entries = Object.entries(counts) as [JobState, number][]
  const change = entries.filter(([state]) => applies(state))
  return {
    changed: change.reduce((sum, [, count]) => sum + count, 0),
    change: Object.fromEntries(change),
    leave: Object.fromEntries(entries.filter(([state]) => !applies(state))),
  }
}

function tally(states: Iterable<JobState>): Counts {
  const counts: Partial<Record<JobState, number>> = {}
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1
  return counts
}
