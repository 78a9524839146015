import type { Findings, Table } from './case.ts'
import { type Figure, showSpread, spread } from './figures.ts'
import { judge, type Reach, showVerdict } from './reach.ts'
import { ratios, type Sides } from './sides.ts'

/** Jobs per second and CPU, beside the bare loop. */
export const THROUGHPUT: Table = {
  title: 'Throughput',
  head: ['', 'jobs/s', 'bare jobs/s', 'library ÷ bare', 'reach', 'CPU µs/job', 'bare CPU µs/job', 'CPU, times bare'],
}

/** The line of a case. */
export function throughputOf(title: string, sides: Sides<Figure>, reach?: Reach): Findings {
  const { library, bare } = sides
  const rate = ratios(library, bare, ({ perSecond }) => perSecond)
  const cpu = ratios(library, bare, ({ cpuMicros }) => cpuMicros)
  const verdict = reach && judge(spread(rate).median, reach)
  const cells = [
    showSpread(library.map(({ perSecond }) => perSecond)),
    showSpread(bare.map(({ perSecond }) => perSecond)),
    showSpread(rate, 2),
    verdict ? showVerdict(verdict, 2) : '',
    showSpread(
      library.map(({ cpuMicros }) => cpuMicros),
      1,
    ),
    showSpread(
      bare.map(({ cpuMicros }) => cpuMicros),
      1,
    ),
    showSpread(cpu, 2),
  ]
  return { rows: [[title, ...cells]], raw: { ...sides, ratio: spread(rate), ...(verdict ? { verdict } : {}) } }
}
