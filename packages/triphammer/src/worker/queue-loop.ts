import { sleep } from '../core/clock.ts'
import { DEFAULTS } from '../core/defaults.ts'
import { TriphammerError } from '../core/errors.ts'
import type { EventBus } from '../extend/events.ts'
import type { Gate, Grant } from '../extend/gate.ts'
import { asCancelled, type Settler } from '../extend/settle.ts'
import type { Claimed, FinishResult, LeaseState, Outcome, OutcomeKind, Run, SessionId } from '../store/types.ts'
import { createBell } from './bell.ts'
import type { Claim, Ended } from './claim.ts'
import { demandOf } from './demand.ts'
import type { Executor } from './executor.ts'
import { createHeldJobs } from './held-jobs.ts'
import type { QueueConfig, WorkerConfig } from './options.ts'
import { isAway, isFatal, type Outage } from './outage.ts'
import { createOutbox } from './outbox.ts'
import { writeProgress } from './progress.ts'

/**
 * The work of one worker in one queue.
 *
 * One loop, one round trip at a time: it hands outcomes in and takes jobs out, both in the same call where it can. What ends
 * while a call is under way waits in the outbox and shares the next. Handlers start from the held jobs whenever a slot is
 * free; they never wait for the loop.
 *
 * ```
 *        claim ──► held ──► running ──► outbox ──┐
 *          ▲        └─ release, cancel, fail ─►  │
 *          └───────────── exchange ◄─────────────┘
 * ```
 */
export interface QueueLoop {
  readonly config: QueueConfig
  /** Runs until it has stopped and everything in hand has been answered, or until it is abandoned. */
  run(): Promise<void>
  /** There may be work. */
  wake(): void
  /** All claims whose leases must be kept. */
  claims(): Iterable<Claim>
  /** `inHand`: claimed and not yet answered; `taken`: all claims so far. */
  counts(): { readonly held: number; readonly running: number; readonly inHand: number; readonly taken: number }
  /** Nothing is in hand, and the last look found nothing or the queue is paused. */
  idle(): boolean
  /** It has free slots and found nothing for them. */
  hungry(): boolean
  /** What the store says about a lease. */
  onState(claim: Claim, state: LeaseState): void
  /** The pulse's answer. Called once a second or so. */
  onBeat(beat: { readonly paused: boolean; readonly wanted: boolean }): void
  /** Takes no more jobs and gives back what has not started. */
  stop(): void
  abortRunning(reason: TriphammerError): void
  handBackRunning(): void
  /** Ends `run` although outcomes could not be handed in; their leases run out and the jobs are reclaimed. */
  abandon(): void
}

/** What a {@link QueueLoop} works with. */
export interface QueueLoopOptions {
  readonly config: WorkerConfig
  readonly queue: QueueConfig
  readonly session: SessionId
  readonly executor: Executor
  readonly settler: Settler
  readonly gate: Required<Gate>
  readonly events: EventBus
  readonly outage: Outage
  /** A handler starts. */
  readonly onStart: () => void
  /** Something changed that somebody may be waiting for. */
  readonly changed: () => void
}

/** A store that says a job is due and yet gives none is not asked again at once, nor is a gate that lets nothing through. */
const SHORTEST_WAIT_MS = 5

/** The longest wait between two tries of a worker that stops. */
const STOPPING_WAIT_MS = 500

/** Makes a {@link QueueLoop}. */
export function createQueueLoop(options: QueueLoopOptions): QueueLoop {
  const { config, queue, session, executor, settler, gate, events, outage, onStart, changed } = options
  const { store, clock, log } = config
  const tasks = [...config.handlers.keys()]
  const bell = createBell(clock)
  const abandoned = new AbortController()
  const stopped = new AbortController()
  const outbox = createOutbox()
  const claims = new Map<string, Claim>()
  const running = new Set<Claim>()
  const [exchanging, confirming] = [outage.caller(), outage.caller()]
  const held = createHeldJobs({
    store,
    clock,
    leaseMs: config.leaseMs,
    onState: (claim, state) => loop.onState(claim, state),
    onConfirmed() {
      confirming.succeeded()
      startMore()
    },
    onFailure: (error, tries) => sleep(clock, confirming.failed(error, tries), abandoned.signal),
  })
  let stopping = false
  let paused = false
  let wanted = false
  let starts = 0
  let recentStarts = 0
  /** Not before this moment, unless something changes: the last look found nothing. */
  let lookAt = 0
  let foundNothing = false
  /** It found nothing, and there is something all the same: the queue is not empty. */
  let missed = false
  /** Somebody has said since the last claim was sent that there may be work: its answer may be older than that. */
  let woken = false
  let taken = 0

  // ── starting ────────────────────────────────────────────────────────────────────────────────────────────────────────

  const startMore = (): void => {
    while (!stopping && !paused && running.size < queue.concurrency) {
      const claim = held.next()
      if (!claim) break
      start(claim)
    }
    bell.ring()
    changed()
  }
  const start = (claim: Claim): void => {
    const { run } = claim
    claim.phase = 'running'
    running.add(claim)
    starts++
    onStart()
    if (events.heard('job.started')) {
      events.emit('job.started', { job: { id: run.id, task: run.task, queue: run.queue }, attempt: run.attempt, at: clock.now() })
    }
    claim.active = executor.start(claim, (outcome, recorded) => {
      running.delete(claim)
      if (recorded) answered({ claim, outcome, started: true, tries: 0 }, APPLIED)
      else end(claim, outcome, true)
      startMore()
    })
  }

  // ── ending ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  const end = (claim: Claim, outcome: Outcome, started: boolean): void => {
    claim.phase = 'ended'
    outbox.push({ claim, outcome, started, tries: 0 })
    bell.ring()
  }
  const endUnstarted = (claim: Claim, kind: OutcomeKind): void => {
    if (held.remove(claim)) end(claim, { lease: claim.run.lease, ...kind }, false)
  }
  const drop = (claim: Claim): void => {
    if (claims.get(claim.run.id) === claim) claims.delete(claim.run.id)
    changed()
  }
  const answered = (ended: Ended, result: FinishResult): void => {
    const { claim, outcome, started } = ended
    if (result.state === 'cancel') {
      outbox.push({ ...ended, outcome: { ...asCancelled(outcome), ...(started ? {} : UNSTARTED) } })
      return
    }
    drop(claim)
    if (started) gate.done(queue.name, 1)
    else gate.refund(queue.name, 1)
    settler.announce({ run: claim.run, outcome }, result)
    report(claim.run, outcome, result)
  }
  const report = (run: Run, outcome: Outcome, { state }: FinishResult): void => {
    if (state === 'stale') {
      log.warn(
        { ...fieldsOf(run), outcome: outcome.kind },
        'a run had been taken away, or its outcome was recorded and the reply lost; nothing was written',
      )
    } else if (outcome.kind === 'retry') {
      log.warn({ ...fieldsOf(run), error: outcome.error, delayMs: outcome.delayMs }, 'an attempt failed; there will be another')
    } else if (outcome.kind === 'dead' || outcome.kind === 'timed_out') {
      log.error({ ...fieldsOf(run), error: outcome.error }, 'a job failed for good')
    }
  }

  // ── exchanging ──────────────────────────────────────────────────────────────────────────────────────────────────────

  const mayLook = (now: number): boolean => !stopping && !paused && (!foundNothing || now >= lookAt)
  const ask = (travelling: number, now: number): Grant => {
    // A claim must not take the blame for an outcome that is refused, nor the other way round.
    if (!mayLook(now) || outbox.isolating) return { granted: 0 }
    const claimed = claims.size - travelling
    const want = demandOf(queue, { claimed, held: held.size, running: running.size, wanted, recentStarts })
    return want === 0 ? { granted: 0 } : gate.take(queue.name, want)
  }

  const exchange = async (batch: readonly Ended[], limit: number): Promise<void> => {
    // What a handler showed last stays with its job, also when no pulse has come since.
    await writeProgress(
      batch.map(({ claim }) => claim),
      { store, told: () => {} },
    )
    const finish = await settler.withFollowUps(batch.map(({ claim, outcome }) => ({ run: claim.run, outcome })))
    if (limit === 0) return take(batch, { runs: [], finished: await store.finish(finish) }, clock.monotonic())
    const sentAt = clock.monotonic()
    woken = false
    const { name, weights } = queue
    const claimed = await store.claim({
      session,
      queue: name,
      tasks,
      limit,
      leaseMs: config.leaseMs,
      finish,
      ...(weights ? { weights } : {}),
    })
    look(claimed, limit)
    take(batch, claimed, sentAt)
  }
  const look = ({ runs, dueInMs }: Claimed, limit: number): void => {
    gate.refund(queue.name, limit - runs.length)
    foundNothing = runs.length === 0 && !woken
    missed = foundNothing && dueInMs === 0
    if (foundNothing) lookAt = clock.monotonic() + Math.min(config.pollMs, Math.max(dueInMs ?? config.pollMs, SHORTEST_WAIT_MS))
  }
  const take = (batch: readonly Ended[], { runs, finished }: Claimed, sentAt: number): void => {
    batch.forEach((ended, i) => void answered(ended, finished[i]!))
    const now = clock.monotonic()
    for (const run of runs) accept({ run, claimedAt: now, renewedAt: sentAt, confirmedAt: now, phase: 'held' })
    startMore()
  }
  const accept = (claim: Claim): void => {
    const { run } = claim
    // Ours under an older lease: that one ran out, somebody gave the job back, and now it is ours anew.
    const older = claims.get(run.id)
    if (older) loop.onState(older, LOST)
    claims.set(run.id, claim)
    taken++
    held.push(claim)
    if (stopping || paused) endUnstarted(claim, { kind: 'release' })
    else if (run.cancelRequested) endUnstarted(claim, { kind: 'cancelled', ...UNSTARTED })
  }

  const refused = (batch: readonly Ended[], error: unknown): void => {
    for (const { claim, outcome } of outbox.refused(batch)) {
      log.error({ job: claim.run.id, outcome: outcome.kind, error }, 'the store refuses an outcome; the lease of its job will run out')
      drop(claim)
      gate.done(queue.name, 1)
    }
  }

  const turn = async (tries: number): Promise<number> => {
    await endOfTurn()
    const batch = outbox.take()
    const now = clock.monotonic()
    const { granted, retryInMs } = ask(batch.length, now)
    if (batch.length === 0 && granted === 0) {
      exchanging.succeeded()
      changed()
      if (!abandoned.signal.aborted) await bell.wait(waitMs(retryInMs, now))
      return 0
    }
    try {
      await exchange(batch, granted)
      outbox.answered()
      exchanging.succeeded()
      return 0
    } catch (error) {
      gate.refund(queue.name, granted)
      const refusal = batch.length > 0 && !isAway(error) && !isFatal(error)
      if (refusal) refused(batch, error)
      else outbox.putBack(batch)
      await backOff(refusal ? outage.wait(tries) : exchanging.failed(error, tries))
      return tries + 1
    }
  }
  // A worker that stops has little time left to hand its outcomes in: a store that comes back meanwhile is not missed.
  const backOff = (ms: number): Promise<void> =>
    stopping ? sleep(clock, Math.min(ms, STOPPING_WAIT_MS), abandoned.signal) : sleep(clock, ms, stopped.signal)
  // A look that is due and was not taken (the queue is paused, a gate is shut, everything is in hand) is not for time to bring.
  const waitMs = (retryInMs: number | undefined, now: number): number => {
    const untilLook = foundNothing && lookAt > now ? lookAt - now : config.pollMs
    return Math.min(untilLook, Math.max(retryInMs ?? config.pollMs, SHORTEST_WAIT_MS), config.pollMs)
  }

  const loop: QueueLoop = {
    config: queue,
    async run() {
      for (let tries = 0; !abandoned.signal.aborted && !(stopping && claims.size === 0); ) tries = await turn(tries)
    },
    wake() {
      woken = true
      foundNothing = false
      bell.ring()
    },
    claims: () => claims.values(),
    counts: () => ({ held: held.size, running: running.size, inHand: claims.size, taken }),
    idle: () => claims.size === 0 && ((foundNothing && !missed) || paused),
    hungry: () => foundNothing && !paused && !stopping && held.size + running.size < queue.concurrency,
    onState(claim, state) {
      if (claim.phase === 'ended') return // its finish will be answered for itself
      switch (state.state) {
        case 'held':
          return
        case 'paused':
          return endUnstarted(claim, { kind: 'release' })
        case 'failed':
          return endUnstarted(claim, { kind: 'failed', error: { name: 'Error', message: state.message }, ...UNSTARTED })
        case 'cancel':
          claim.active?.abort(new TriphammerError('CANCELLED', `job ${claim.run.id} is to be cancelled`))
          return endUnstarted(claim, { kind: 'cancelled', ...UNSTARTED })
        case 'lost':
          return lose(claim)
      }
    },
    onBeat(beat) {
      recentStarts = starts
      starts = 0
      wanted = beat.wanted
      const resumed = paused && !beat.paused
      paused = beat.paused
      const now = clock.monotonic()
      if (paused) giveBack(held.drain())
      else if (wanted) giveBack(held.drain(({ claimedAt }) => now - claimedAt >= DEFAULTS.handBackMs))
      if (resumed) loop.wake()
    },
    stop() {
      stopping = true
      stopped.abort()
      giveBack(held.drain())
      bell.ring()
    },
    abortRunning: (reason) => {
      for (const claim of running) claim.active?.abort(reason)
    },
    handBackRunning: () => {
      for (const claim of [...running]) claim.active?.handBack()
    },
    abandon() {
      abandoned.abort()
      bell.ring()
    },
  }

  const giveBack = (list: readonly Claim[]): void => {
    for (const claim of list) end(claim, { lease: claim.run.lease, kind: 'release' }, false)
  }
  const lose = (claim: Claim): void => {
    claim.active?.abort(new TriphammerError('LEASE_LOST', `the run of job ${claim.run.id} is not this worker's any more`))
    if (!held.remove(claim)) return
    drop(claim)
    gate.refund(queue.name, 1)
    settler.announce({ run: claim.run, outcome: { lease: claim.run.lease, kind: 'release' } }, STALE)
    bell.ring()
  }
  return loop
}

const UNSTARTED = { unstarted: true } as const
const APPLIED: FinishResult = { state: 'applied', ended: [], released: [] }
const STALE: FinishResult = { state: 'stale', ended: [], released: [] }
const LOST: LeaseState = { state: 'lost' }

function fieldsOf({ id, task, attempt }: Run): object {
  return { job: id, task, attempt }
}

// What ends in the same turn of the event loop shares a round trip.
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
