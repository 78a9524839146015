import { nowMs } from './time.ts'

/** How fast something was, and what it cost for each job. */
export interface Figure {
  readonly perSecond: number
  readonly cpuMicros: number
}

/** The {@link Figure} of doing `act`, which is about so many jobs, in this process. */
export async function measure(jobs: number, act: () => unknown): Promise<Figure> {
  const [startedAt, cpu] = [nowMs(), process.cpuUsage()]
  await act()
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: (jobs * 1_000) / (nowMs() - startedAt), cpuMicros: (user + system) / jobs }
}

/** What the rounds of one thing come to. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** The {@link Spread} of at least one value. */
export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), least: Math.min(...values), most: Math.max(...values) }
}

/** The smallest value that at least this share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
}

/** A number for people, with its thousands apart. */
export function show(value: number, digits = 0): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** `median (least–most)`; a single round has no range. */
export function showSpread(values: readonly number[], digits = 0): string {
  const { median, least, most } = spread(values)
  return values.length === 1 ? show(median, digits) : `${show(median, digits)} (${show(least, digits)}–${show(most, digits)})`
}

/** Fails loudly when a count is not what it must be: a figure of jobs that were lost or run twice would be worth nothing. */
export function mustBe(what: string, count: number, expected: number): void {
  if (count !== expected) throw new Error(`${what}: ${show(count)}, and it must be ${show(expected)}`)
}
