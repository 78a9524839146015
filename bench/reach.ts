import { show } from './figures.ts'

/** What a figure is meant to reach. Nothing fails when it does not; the report says so. */
export type Reach = { readonly atLeast: number } | { readonly atMost: number }

/** A figure beside its reach. */
export interface Verdict {
  readonly value: number
  readonly reach: Reach
  readonly met: boolean
}

/** Compares a figure with its reach. */
export function judge(value: number, reach: Reach): Verdict {
  return { value, reach, met: 'atLeast' in reach ? value >= reach.atLeast : value <= reach.atMost }
}

/** The cell of a {@link Verdict}. */
export function showVerdict({ reach, met }: Verdict, digits: number): string {
  const bound = 'atLeast' in reach ? `≥ ${show(reach.atLeast, digits)}` : `≤ ${show(reach.atMost, digits)}`
  return `${bound} ${met ? 'met' : 'missed'}`
}
