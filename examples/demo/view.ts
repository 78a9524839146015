import { SingleBar } from 'cli-progress'
import { barLine, plainLine, type Sample } from './progress-line.ts'
import { paintFor } from './text.ts'

/** Shows samples of a run as they come. */
export interface View {
  show(sample: Sample): void
  /** The last sample stays on the screen; what is printed next begins on a line of its own. */
  end(): void
}

/** A bar that moves on a terminal, a line each second elsewhere. */
export function createView(stream: NodeJS.WriteStream): View {
  return stream.isTTY ? createBarView(stream) : createLineView(stream)
}

const LINE_EVERY_MS = 1_000

function createLineView(stream: NodeJS.WritableStream): View {
  let last: Sample | undefined
  let printed: Sample | undefined
  const print = (sample: Sample): void => {
    stream.write(`${plainLine(sample)}\n`)
    printed = sample
  }
  return {
    show(sample) {
      last = sample
      const first = sample.done > 0 && !printed?.done
      if (first || sample.elapsedMs - (printed?.elapsedMs ?? 0) >= LINE_EVERY_MS) print(sample)
    },
    end() {
      if (last && last !== printed) print(last)
    },
  }
}

const MOST_COLUMNS = 110

function createBarView(stream: NodeJS.WriteStream): View {
  const paint = paintFor(stream)
  const format = (_options: unknown, _params: unknown, payload: { readonly sample?: Sample }): string => {
    // A character in the last column would make some terminals begin a new line.
    const width = Math.min(MOST_COLUMNS, stream.columns - 1)
    return payload.sample ? barLine(payload.sample, width, paint) : ''
  }
  const bar = new SingleBar({ format, stream, hideCursor: true, gracefulExit: false, fps: 10, forceRedraw: true })
  return {
    show(sample) {
      if (!bar.isActive) bar.start(sample.total, sample.done, { sample })
      bar.setTotal(sample.total)
      bar.update(sample.done, { sample })
    },
    end() {
      bar.stop()
    },
  }
}
