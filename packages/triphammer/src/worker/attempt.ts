import type { Clock, Timer } from '../core/clock.ts'
import { TriphammerError } from '../core/errors.ts'
import { childLogger, type Logger } from '../core/logger.ts'
import type { OutcomeKind, Run } from '../store/types.ts'
import type { ActiveRun, Claim } from './claim.ts'
import type { Commit } from './commit.ts'

/** How an attempt ended: with an outcome, and whether `ctx.commit` has written it already. */
export interface AttemptEnd {
  readonly outcome: OutcomeKind
  readonly recorded: boolean
}

/** What an {@link Attempt} is made with. */
export interface AttemptOptions {
  readonly claim: Claim
  readonly clock: Clock
  readonly log: Logger
  readonly makeCommit: (attempt: Attempt) => Commit
  readonly ended: (attempt: Attempt, end: AttemptEnd) => void
}

/**
 * One attempt at a job: its signal, its time limit, and the one end it comes to. Whatever comes after that end, a late
 * return of the handler above all, changes nothing.
 */
export class Attempt implements ActiveRun {
  readonly run: Run
  readonly startedMs: number
  settled = false
  cancelRequested = false
  /** Why the signal was aborted. */
  reason: TriphammerError | undefined
  /** JSON text that the pulse is to write down. */
  progress: string | undefined
  readonly #options: AttemptOptions
  #log: Logger | undefined
  #controller: AbortController | undefined
  #commit: Commit | undefined
  #timer: Timer | undefined

  constructor(options: AttemptOptions) {
    this.#options = options
    this.run = options.claim.run
    this.startedMs = this.#elapsed()
  }

  // The members that follow are made when they are asked for: most handlers never do.
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.reason) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  get log(): Logger {
    const { id, task, attempt } = this.run
    this.#log ??= childLogger(this.#options.log, { job: id, task, attempt })
    return this.#log
  }

  get commit(): Commit {
    this.#commit ??= this.#options.makeCommit(this)
    return this.#commit
  }

  /** As `Commit.confirmed`; an attempt that never looked at `commit` has none. */
  committed(): undefined | Promise<OutcomeKind | undefined> {
    return this.#commit?.confirmed()
  }

  times(): { readonly startedMs: number; readonly endedMs: number } {
    return { startedMs: this.startedMs, endedMs: this.#elapsed() }
  }

  limit(timeoutMs: number | undefined, timedOut: (error: TriphammerError) => void): void {
    if (timeoutMs === undefined) return
    this.#timer = this.#options.clock.timer(timeoutMs, () => {
      const error = new TriphammerError('TIMED_OUT', `the attempt timed out after ${timeoutMs} ms`)
      this.abort(error)
      timedOut(error)
    })
  }

  abort(reason: TriphammerError): void {
    if (reason.code === 'CANCELLED') this.cancelRequested = true
    // Completed by a commit, the run is nobody's any more, and nothing is lost by that.
    if (this.reason || (reason.code === 'LEASE_LOST' && this.#commit?.recorded)) return
    this.reason = reason
    this.#controller?.abort(reason)
  }

  handBack(): void {
    this.settle({ outcome: { kind: this.cancelRequested ? 'cancelled' : 'release' }, recorded: false })
  }

  takeProgress(): string | undefined {
    const { progress } = this
    this.progress = undefined
    return progress
  }

  showAgain(progress: string): void {
    this.progress ??= progress
  }

  settle(end: AttemptEnd): void {
    if (this.settled) return
    this.settled = true
    this.#timer?.cancel()
    // Whether the job is completed is known when a commit that is being written has ended.
    const landing = this.#commit?.landing
    if (landing) void landing.then(() => this.#end(end))
    else this.#end(end)
  }

  // What a commit has written stands, whatever the attempt comes to afterwards.
  #end(end: AttemptEnd): void {
    const recorded = this.#commit?.recorded
    this.#options.ended(this, recorded ? { outcome: recorded, recorded: true } : end)
  }

  #elapsed(): number {
    return Math.floor(this.#options.clock.monotonic() - this.#options.claim.claimedAt)
  }
}
