import type { Case, Findings, Table } from './case.ts'
import { startCrew } from './crew.ts'
import { mustBe, quantile, show } from './figures.ts'
import { withFile } from './folder.ts'
import { enqueueStamped, type LatencyAssignment } from './latency-parts.ts'
import { openClient } from './library.ts'
import { progress } from './progress.ts'
import { judge, type Reach, showVerdict } from './reach.ts'
import type { Sizes } from './sizes.ts'

const TABLE: Table = {
  title: 'Latency: from the call of enqueue to the start of the handler, with an idle worker',
  head: ['', 'jobs', 'p50, ms', 'reach of p50', 'p95, ms', 'most, ms'],
}

/** Client and worker in one process. */
export const latencyOne: Case = {
  name: 'latency',
  table: TABLE,
  run: (sizes) => latency('in one process', sizes, inOneProcess),
}

/** Client and worker in two processes. */
export const latencyTwo: Case = {
  name: 'latency-2',
  table: TABLE,
  run: (sizes) => latency('between two processes', sizes, betweenTwo, { atMost: 50 }),
}

type Measure = (assignment: LatencyAssignment) => Promise<readonly number[]>

async function latency(title: string, { wakeUps, wakeUpEveryMs }: Sizes, measure: Measure, reach?: Reach): Promise<Findings> {
  progress(`latency ${title}`)
  const latencies = await withFile((file) => measure({ file, count: wakeUps, everyMs: wakeUpEveryMs }))
  mustBe('latencies', latencies.length, wakeUps)
  const [p50, p95, most] = [quantile(latencies, 0.5), quantile(latencies, 0.95), Math.max(...latencies)]
  const verdict = reach && judge(p50, reach)
  return {
    rows: [[title, show(wakeUps), show(p50, 1), verdict ? showVerdict(verdict, 0) : '', show(p95, 1), show(most, 1)]],
    raw: { latenciesMs: latencies, p50, p95, most, ...(verdict ? { verdict } : {}) },
  }
}

async function inOneProcess(assignment: LatencyAssignment): Promise<readonly number[]> {
  const crew = await startCrew<readonly number[]>('waken', assignment)
  crew.tell('go')
  return (await crew.reports)[0]!
}

async function betweenTwo(assignment: LatencyAssignment): Promise<readonly number[]> {
  const jobs = await openClient(assignment.file)
  const crew = await startCrew<readonly number[]>('woken', assignment)
  crew.tell('go')
  await enqueueStamped(jobs, assignment)
  const [latencies] = await crew.reports
  await jobs.close()
  return latencies!
}
