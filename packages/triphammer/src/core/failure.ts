/** What is kept of an error: plain data, the same in every store. */
export interface JobFailure {
  /** The error's name, e.g. `'TypeError'`. */
  readonly name: string
  /** At most 8,192 characters. */
  readonly message: string
  /** The error's own `code`, when it is a string: `'ECONNRESET'`, or one of ours such as `'TIMED_OUT'`. */
  readonly code?: string
  /** At most 16,384 characters. */
  readonly stack?: string
}

const MAX_MESSAGE = 8_192
const MAX_STACK = 16_384

/**
 * Plain data from whatever was thrown. Long texts are cut, text that a store could not hold is repaired: an error about
 * bad text must not itself be refused. It never throws, whatever was thrown: a run must be able to end.
 */
export function toFailure(thrown: unknown): JobFailure {
  try {
    return read(thrown)
  } catch {
    return { name: 'Error', message: 'something was thrown that cannot be read' }
  }
}

function read(thrown: unknown): JobFailure {
  if (!isErrorLike(thrown)) return { name: 'Error', message: clean(describe(thrown), MAX_MESSAGE) }
  const code: unknown = thrown.code
  return {
    name: clean(String(thrown.name ?? 'Error'), 128),
    message: clean(String(thrown.message), MAX_MESSAGE),
    ...(typeof code === 'string' ? { code: clean(code, 128) } : {}),
    ...(typeof thrown.stack === 'string' ? { stack: clean(thrown.stack, MAX_STACK) } : {}),
  }
}

interface ErrorLike {
  readonly name?: unknown
  readonly message: unknown
  readonly code?: unknown
  readonly stack?: unknown
}

function isErrorLike(thrown: unknown): thrown is ErrorLike {
  return typeof thrown === 'object' && thrown !== null && 'message' in thrown
}

function describe(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown)
  try {
    // Undefined where toJSON returns nothing.
    return (JSON.stringify(thrown) as string | undefined) ?? Object.prototype.toString.call(thrown)
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}

function clean(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text
  return cut.toWellFormed().replaceAll('\u0000', '\ufffd')
}

/** What a cancelled job keeps as its error. */
export function cancelFailure(reason?: string): JobFailure {
  return { name: 'Cancelled', code: 'CANCELLED', message: reason ?? 'the job was cancelled' }
}
