import type { Percentiles } from './latencies.ts'
import { count, number, type Paint, time } from './text.ts'

/** How far a run is, at one moment. */
export interface Sample {
  /** Since this copy was started. */
  readonly elapsedMs: number
  /** Entries whose jobs have ended, whichever copy ran them. */
  readonly done: number
  /** Entries found so far. */
  readonly total: number
  /** The tree is still being walked: the total grows. */
  readonly scanning: boolean
  readonly perSecond: number
  /** From enqueue to finish, of the jobs that this copy ran. */
  readonly latency?: Percentiles
  /** Jobs that others hold, while this copy has nothing to do. */
  readonly elsewhere: number
  /** Jobs that wait for their next attempt, while nobody has anything to do. */
  readonly retrying: number
  /** A signal has come: what is at work is finished, nothing new is begun. */
  readonly stopping: boolean
}

/** One line without colours, for a log. */
export function plainLine(sample: Sample): string {
  const { done, total, perSecond, elapsedMs } = sample
  const parts = [time(elapsedMs).padStart(7), `${number(done)} of ${count(total, 'file')}`, `${number(perSecond)} jobs/s`]
  return [...parts, latencyText(sample), state(sample)].filter((part) => part !== '').join('  ')
}

/** One line for a terminal of this width. What finds no room is left out, the least important first. */
export function barLine(sample: Sample, width: number, paint: Paint): string {
  const share = sample.total === 0 ? 0 : sample.done / sample.total
  const full = Math.min(30, Math.max(10, width - 76))
  const filled = Math.round(share * full)
  let line = paint('green', '█'.repeat(filled)) + paint('dim', '░'.repeat(full - filled))
  let left = width - full
  for (const text of textsOf(sample, share)) {
    if (text.length + 2 > left) break
    line += `  ${text}`
    left -= text.length + 2
  }
  return line
}

function textsOf(sample: Sample, share: number): readonly string[] {
  const total = number(sample.total)
  const texts = [
    `${Math.floor(share * 100)}%`.padStart(4),
    `${number(sample.done).padStart(total.length)}/${total}`,
    `${number(sample.perSecond)} jobs/s`,
    state(sample),
    latencyText(sample),
  ]
  return texts.filter((text) => text !== '')
}

function latencyText({ latency }: Sample): string {
  return latency ? `p50 ${time(latency.p50)}  p95 ${time(latency.p95)}  p99 ${time(latency.p99)}` : ''
}

function state({ stopping, elsewhere, retrying, scanning }: Sample): string {
  if (stopping) return 'stopping'
  if (elsewhere > 0) return `waiting for ${count(elsewhere, 'job')} of another copy`
  if (retrying > 0) return `waiting to try ${count(retrying, 'file')} again`
  return scanning ? 'scanning' : ''
}
