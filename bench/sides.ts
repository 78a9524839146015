import { progress } from './progress.ts'

/** The rounds of a case, of the library and of the bare loop. */
export interface Sides<T> {
  readonly library: readonly T[]
  readonly bare: readonly T[]
}

/** Who does it. */
export type Side = keyof Sides<unknown>

/** Measures both in turn, and who goes first changes with each round: what is measured together can be compared. */
export async function alternate<T>(what: string, rounds: number, measure: (side: Side) => Promise<T>): Promise<Sides<T>> {
  const measured: Record<Side, T[]> = { library: [], bare: [] }
  for (let round = 0; round < rounds; round++) {
    progress(`${what}, round ${round + 1} of ${rounds}`)
    const order: readonly Side[] = round % 2 === 0 ? ['library', 'bare'] : ['bare', 'library']
    for (const side of order) measured[side].push(await measure(side))
  }
  return measured
}

/** The ratios, round by round: what disturbs the machine for longer than a round disturbs both sides of it. */
export function ratios<T>(over: readonly T[], under: readonly T[], value: (round: T) => number): number[] {
  return over.map((round, i) => value(round) / value(under[i]!))
}
