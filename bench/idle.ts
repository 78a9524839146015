import type { Case, Table } from './case.ts'
import { startCrew } from './crew.ts'
import { showSpread, spread } from './figures.ts'
import { withFile } from './folder.ts'
import type { Idle, IdleAssignment } from './idle-parts.ts'
import { progress } from './progress.ts'
import { judge, showVerdict } from './reach.ts'

const TABLE: Table = { title: 'Idle', head: ['', 'CPU, % of a core', 'reach', 'RSS, MB'] }

/** A worker that has nothing to do. */
export const idle: Case = {
  name: 'idle',
  table: TABLE,
  async run({ rounds, idleMs }) {
    const worker: Idle[] = []
    const nothing: Idle[] = []
    for (let round = 0; round < rounds; round++) {
      progress(`idle, round ${round + 1} of ${rounds}`)
      await withFile(async (file) => {
        worker.push(await beIdle('idle', { file, forMs: idleMs }))
        nothing.push(await beIdle('nothing', { file, forMs: idleMs }))
      })
    }
    const verdict = judge(spread(cpuOf(worker)).median, { atMost: 1 })
    return {
      rows: [
        ['a worker process without work', showSpread(cpuOf(worker), 2), showVerdict(verdict, 0), showSpread(rssOf(worker))],
        ['a Node.js process without anything', showSpread(cpuOf(nothing), 2), '', showSpread(rssOf(nothing))],
      ],
      raw: { worker, nothing, verdict },
    }
  },
}

async function beIdle(part: 'idle' | 'nothing', assignment: IdleAssignment): Promise<Idle> {
  const crew = await startCrew<Idle>(part, assignment)
  crew.tell('go')
  const [report] = await crew.reports
  return report!
}

function cpuOf(rounds: readonly Idle[]): number[] {
  return rounds.map(({ cpuPercent }) => cpuPercent)
}

function rssOf(rounds: readonly Idle[]): number[] {
  return rounds.map(({ rssBytes }) => rssBytes / 1e6)
}
