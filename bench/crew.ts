import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL('child.js', import.meta.url))

// One that is in the middle of a loop would not hear that its parent has gone.
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** What a child says. */
export type Said<Report> = { readonly kind: 'ready' } | { readonly kind: 'report'; readonly report: Report }

/** What a child is told. */
export type Word = 'go' | 'stop'

/** Processes that do the same thing at the same time, all of them ready. */
export interface Crew<Report> {
  tell(word: Word): void
  /** What each says at its end. Rejects, and ends the others, when one ends without a word. */
  readonly reports: Promise<readonly Report[]>
}

/**
 * Starts processes that do `part` of child.ts, and waits until all are ready, so that their start is in no figure.
 *
 * @param assignment what they are given, as JSON
 */
export async function startCrew<Report>(part: string, assignment: object, size = 1): Promise<Crew<Report>> {
  const children = Array.from({ length: size }, () => startChild<Report>(part, assignment))
  const reports = Promise.all(children.map(({ report }) => report)).catch((error: unknown) => {
    for (const { end } of children) end()
    throw error
  })
  await Promise.race([Promise.all(children.map(({ ready }) => ready)), reports])
  reports.catch(() => {}) // whoever waits for it is told
  return {
    tell(word) {
      for (const { tell } of children) tell(word)
    },
    reports,
  }
}

interface Child<Report> {
  readonly ready: Promise<void>
  readonly report: Promise<Report>
  tell(word: Word): void
  end(): void
}

function startChild<Report>(part: string, assignment: object): Child<Report> {
  // What a child prints is no part of the report.
  const child = fork(CHILD, [part, JSON.stringify(assignment)], { stdio: ['ignore', 2, 2, 'ipc'] })
  running.add(child)
  let said: { readonly report: Report } | undefined
  let onReady = (): void => {}
  const ready = new Promise<void>((resolve) => {
    onReady = resolve
  })
  child.on('message', (message: Said<Report>) => {
    if (message.kind === 'ready') return onReady()
    said = message
    child.disconnect() // it waits for that, so that no report is lost
  })
  const report = new Promise<Report>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      running.delete(child)
      if (said && code === 0) resolve(said.report)
      else reject(new Error(`the process for ${part} ended with ${code ?? signal}${said ? '' : ' and no report'}`))
    })
  })
  return { ready, report, tell: (word) => void child.send(word), end: () => void child.kill() }
}
