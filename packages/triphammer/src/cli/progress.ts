import { Writable } from 'node:stream'
import cliProgress from 'cli-progress'
import type { World } from './world.ts'

/** Shows on standard error how far a long piece of work is. What is soon done shows nothing. */
export interface Progress {
  /** So much of it is done. */
  reach(done: number): void
  /** There is nothing more to show. A bar is wiped away; lines stay. */
  end(): void
}

/** Work that is done within this shows no bar. */
const QUIET_MS = 500
/** Where standard error is no terminal: a line as often as this. */
const LINE_MS = 5_000

/**
 * Begins to show progress: as a bar in a terminal, elsewhere as a line now and then.
 *
 * @param what names what is counted, e.g. `'jobs'`
 * @param total how many there are; lines do without
 */
export function showProgress(world: World, what: string, total: number | undefined): Progress {
  return world.isInteractive && total !== undefined ? showBar(world, what, total) : showLines(world, what, total)
}

function showLines({ clock, err }: World, what: string, total: number | undefined): Progress {
  let told = clock.monotonic()
  return {
    reach(done) {
      if (clock.monotonic() - told < LINE_MS) return
      told = clock.monotonic()
      err(`${done}${total === undefined ? '' : ` of ${Math.max(done, total)}`} ${what}\n`)
    },
    end() {},
  }
}

function showBar({ clock, err, columns = 80 }: World, what: string, total: number): Progress {
  const begun = clock.monotonic()
  let bar: cliProgress.SingleBar | undefined
  return {
    reach(done) {
      if (!bar) {
        if (clock.monotonic() - begun < QUIET_MS) return
        bar = createBar(err, columns, what)
        bar.start(Math.max(done, total), done)
      }
      if (done > bar.getTotal()) bar.setTotal(done)
      bar.update(done)
    },
    end() {
      bar?.stop()
      bar = undefined
    },
  }
}

function createBar(err: (text: string) => void, columns: number, what: string): cliProgress.SingleBar {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      err(chunk)
      done()
    },
  })
  return new cliProgress.SingleBar(
    {
      stream: Object.assign(stream, { isTTY: true, columns }),
      format: `[{bar}] {percentage}%  {value} of {total} ${what}`,
      clearOnComplete: true,
      // Wrapping is not switched off: a process that is killed could not switch it on again.
      linewrap: true,
    },
    cliProgress.Presets.legacy,
  )
}
