import { inspect } from 'node:util'

/**
 * Where `actual`, a value from JSON, is not what was expected of it: one line for each place, none if it fits.
 *
 * Of an object only the properties named are looked at, at every depth; `undefined` says that there is none. A list has the
 * same length and fits item by item. What has a `toJSON` is expected as it is stored. Matchers of test runners, such as
 * `expect.any(String)`, decide for themselves.
 */
export function differences(path: string, expected: unknown, actual: unknown): readonly string[] {
  if (isMatcher(expected)) return expected.asymmetricMatch(actual) ? [] : [difference(path, display(expected), actual)]
  if (hasToJSON(expected)) return differences(path, expected.toJSON(), actual)
  if (Array.isArray(expected)) return inList(path, expected, actual)
  if (typeof expected === 'object' && expected !== null) return inObject(path, expected, actual)
  return expected === actual ? [] : [difference(path, display(expected), actual)]
}

function inList(path: string, expected: readonly unknown[], actual: unknown): readonly string[] {
  if (!Array.isArray(actual)) return [difference(path, display(expected), actual)]
  if (actual.length !== expected.length) return [`${path} has ${actual.length} items, expected ${expected.length}: ${display(expected)}`]
  return expected.flatMap((item, at) => differences(`${path}[${at}]`, item, actual[at]))
}

function inObject(path: string, expected: object, actual: unknown): readonly string[] {
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return [difference(path, display(expected), actual)]
  return Object.entries(expected).flatMap(([key, value]) =>
    differences(`${path}.${key}`, value, Object.hasOwn(actual, key) ? actual[key as keyof typeof actual] : undefined),
  )
}

function difference(path: string, expected: string, actual: unknown): string {
  return actual === undefined ? `${path} is absent, expected ${expected}` : `${path} is ${display(actual)}, expected ${expected}`
}

/** Of a value from JSON only the properties that `expected` names: what a runner is to compare with it. */
export function askedPart(expected: unknown, actual: unknown): unknown {
  if (isMatcher(expected) || hasToJSON(expected)) return actual
  if (Array.isArray(expected)) return Array.isArray(actual) ? actual.map((item, at) => askedPart(expected[at], item)) : actual
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) return actual
  const asked = Object.keys(expected).filter((key) => Object.hasOwn(actual, key))
  return Object.fromEntries(asked.map((key) => [key, askedPart(expected[key as never], actual[key as never])]))
}

/** A value in a message: on one line, and not at any length. Matchers are shown by name. */
export function display(value: unknown): string {
  return inspect(showMatchers(value), { depth: 8, compact: true, breakLength: Infinity, maxStringLength: 200, maxArrayLength: 20 })
}

function showMatchers(value: unknown): unknown {
  if (isMatcher(value)) return { [inspect.custom]: () => nameOf(value) }
  if (Array.isArray(value)) return value.map(showMatchers)
  if (typeof value !== 'object' || value === null || hasToJSON(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, showMatchers(item)]))
}

interface Matcher {
  asymmetricMatch(value: unknown): boolean
  toAsymmetricMatcher?(): string
  readonly sample?: unknown
}

function isMatcher(value: unknown): value is Matcher {
  return typeof value === 'object' && value !== null && 'asymmetricMatch' in value && typeof value.asymmetricMatch === 'function'
}

function nameOf(matcher: Matcher): string {
  if (matcher.toAsymmetricMatcher) return matcher.toAsymmetricMatcher()
  return 'sample' in matcher ? `${String(matcher)} ${display(matcher.sample)}` : String(matcher)
}

function hasToJSON(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
}
