import type { StandardSchemaV1 } from '@standard-schema/spec'
import { DEFAULTS } from '../core/defaults.ts'
import { parseDuration } from '../core/duration.ts'
import { TriphammerError } from '../core/errors.ts'
import { type Ids, parseId } from '../core/ids.ts'
import { parseInstant } from '../core/instant.ts'
import { encodeJson } from '../core/json.ts'
import { checkOptions } from '../core/options.ts'
import { type AnyTask, type EnqueueOptions, type JobSpec, policyOf, type TaskPolicy } from '../core/task.ts'
import { show } from '../core/text.ts'
import type { NewJob } from '../store/types.ts'

/** What building jobs depends on. */
export interface JobBuilderOptions {
  readonly ids: Ids
  /** The most bytes of JSON a payload may have. */
  readonly payloadBytes: number
}

const OPTION_KEYS = ['id', 'queue', 'priority', 'delay', 'runAt', 'maxAttempts', 'timeout', 'retry', 'retain']
const NO_POLICY: TaskPolicy = {}

/**
 * Refuses what is not a job of a task: the name of a task in place of the task above all.
 *
 * @throws TriphammerError `INVALID_OPTION`
 */
export function checkSpec(spec: unknown): asserts spec is JobSpec {
  const task: unknown = typeof spec === 'object' && spec !== null && 'task' in spec ? spec.task : undefined
  if (typeof task === 'object' && task !== null && 'name' in task && 'policy' in task) return
  throw new TriphammerError(
    'INVALID_OPTION',
    `enqueue: ${show(task)} is not a task; give what defineTask() returned, or in a list task.with(payload)`,
  )
}

/**
 * The store's form of a job. Everything about it is checked but its schema. What neither the job nor its task says stays
 * out, so that the defaults apply; a policy that is said is written into the job and so is the same for whoever claims it.
 *
 * @throws TriphammerError as the options and the payload deserve; nothing has been written
 */
export function buildJob({ task, payload, options }: JobSpec, { ids, payloadBytes }: JobBuilderOptions): NewJob {
  const what = `job of task ${task.name}`
  const own = options === NO_OPTIONS ? NO_POLICY : ownPolicy(options, what)
  const { policy } = task
  const retry = own.retry ?? policy.retry
  const timeoutMs = own.timeoutMs ?? policy.timeoutMs
  const retainMs = own.retainMs ?? policy.retainMs
  return {
    id: options.id === undefined ? ids.next() : parseId(options.id, `${what}: id`),
    task: task.name,
    queue: own.queue ?? policy.queue ?? DEFAULTS.queue,
    payload: encodeJson(payload, `the payload of task ${task.name}: payload`, payloadBytes),
    priority: own.priority ?? policy.priority ?? DEFAULTS.priority,
    maxAttempts: own.maxAttempts ?? policy.maxAttempts ?? DEFAULTS.maxAttempts,
    ...whenOf(options, what),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(typeof retry === 'object' ? { retry } : {}),
    ...(retainMs === undefined ? {} : { retainMs }),
    ...(options.id === undefined ? {} : { repeat: true }),
  }
}

/** The options of a job about which nothing was said: recognised by identity, so that bulk enqueue skips their checks. */
export const NO_OPTIONS: EnqueueOptions = Object.freeze({})

/**
 * Checks the options of a job that is not built yet, or never will be.
 *
 * @throws TriphammerError `UNKNOWN_OPTION`, and as the options deserve
 */
export function checkJobOptions(options: EnqueueOptions, what: string): void {
  ownPolicy(options, what)
  whenOf(options, what)
}

function ownPolicy(options: EnqueueOptions, what: string): TaskPolicy {
  checkOptions(options, OPTION_KEYS, what)
  if (typeof options.retry === 'function') {
    throw new TriphammerError('INVALID_OPTION', `${what}: retry: a function cannot be stored with a job; set it on the task or the worker`)
  }
  return policyOf(options, what)
}

function whenOf({ delay, runAt }: EnqueueOptions, what: string): Pick<NewJob, 'delayMs' | 'runAt'> {
  if (delay !== undefined && runAt !== undefined) {
    throw new TriphammerError('INVALID_OPTION', `${what}: give delay or runAt, not both`)
  }
  if (delay !== undefined) return { delayMs: parseDuration(delay, `${what}: delay`) }
  return runAt === undefined ? {} : { runAt: parseInstant(runAt, `${what}: runAt`) }
}

/**
 * Checks a payload against its task's schema. Returns a promise only if the schema does, so that a bulk enqueue does not
 * wait once per job.
 *
 * @throws TriphammerError `PAYLOAD_INVALID`
 */
export function checkInput(task: AnyTask, payload: unknown): void | Promise<void> {
  if (!task.input) return
  const result = validate(task, task.input, payload)
  // Any thenable: a promise of another kind, taken for a result, would have no issues.
  if (typeof result !== 'object' || result === null || !('then' in result)) return refuseIssues(task, issuesOf(task, result))
  return Promise.resolve(result).then(
    (late) => refuseIssues(task, issuesOf(task, late)),
    (error: unknown) => {
      throw schemaFailed(task, error)
    },
  )
}

function validate(task: AnyTask, input: StandardSchemaV1, payload: unknown): unknown {
  try {
    return input['~standard'].validate(payload)
  } catch (error) {
    throw schemaFailed(task, error)
  }
}

function schemaFailed(task: AnyTask, cause: unknown): TriphammerError {
  return new TriphammerError('PAYLOAD_INVALID', `the schema of task ${task.name} threw while it checked the payload: ${show(cause)}`, {
    cause,
  })
}

/** What a schema found. @throws TriphammerError `PAYLOAD_INVALID`: what it returned is no answer; a check that says nothing has not passed */
export function issuesOf(task: AnyTask, result: unknown): readonly Issue[] | undefined {
  if (typeof result === 'object' && result !== null) {
    if (!('issues' in result) || result.issues === undefined) return undefined
    if (Array.isArray(result.issues)) return result.issues as readonly Issue[]
  }
  throw new TriphammerError(
    'PAYLOAD_INVALID',
    `the schema of task ${task.name} returned ${show(result)}, which is neither a value nor issues`,
  )
}

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** @throws TriphammerError `PAYLOAD_INVALID`, if there are issues */
export function refuseIssues(task: AnyTask, issues: readonly Issue[] | undefined): void {
  if (!issues) return
  const shown = issues.slice(0, 5).map((issue) => {
    const path = issue.path?.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
    return path ? `${path}: ${issue.message}` : issue.message
  })
  const rest = issues.length > shown.length ? `; and ${issues.length - shown.length} more` : ''
  throw new TriphammerError('PAYLOAD_INVALID', `the payload does not fit task ${task.name}: ${shown.join('; ')}${rest}`)
}
