import fc from 'fast-check'

/** The seed of the contracts; what it makes is the same each time. */
export const SEED = 20_260_101

const NUL = '\u0000'

// Everything that has gone wrong between a program, a terminal and a database.
const PIECES: readonly string[] = [
  ...[
    "'",
    "''",
    '"',
    '`',
    '\\',
    "\\'",
    ';',
    '--',
    '/*',
    '*/',
    '#',
    '%',
    '_',
    '?',
    '*',
    '[a-z]',
    '$1',
    ':a',
    '@a',
    '{0}',
    '$x',
    '%s',
    '%00',
  ],
  ...["' or '1'='1", "'); drop table jobs; --", '" or ""="', "' union select 1 --", '$(id)', '${', '`id`', '| id', '&& id', '> /dev/null'],
  ...['null', 'NULL', 'undefined', 'true', 'false', '0', '-1', '-0', '007', '1e999', 'NaN', 'Infinity', '0x00', '1n', '[]', '{}', '""'],
  ...['\n', '\r\n', '\t', '\b', '\u0001', '\u001f', '\u007f', '\u0085', '\u00a0', '\u2028', '\u2029', '\ufeff', '\ufffd', '\uffff'],
  ...['\u001b[31m', '\u001b[2J\u001b[H', '\u001b]0;title\u0007', '\u009b1m', '\u001b]8;;http://x\u001b\\'],
  ...[
    'ä',
    'ß',
    'İ',
    'ı',
    'ſ',
    'Å',
    '\u212b',
    'A\u030a',
    'é',
    'e\u0301',
    '\ufb01',
    'fi',
    '日本',
    '한',
    '\u1112\u1161\u11ab',
    'Z\u0351\u036b\u0343',
  ],
  ...['עברית', 'مرحبا', '\u202e', '\u2066', '\u2069', '\u200e', '\u200b', '\u200c', '\u200d', '\u00ad', '\u180e', '\ufe0f', '\ue000'],
  ...['🚂', '👩‍👩‍👧', '🏳️‍🌈', '🇩🇪', '👍🏽', '\u{10ffff}', '\u{1f}\u{10000}'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'toJSON', 'then', 'length', 'default', 'all', '*'],
  ...['-', '--help', '--json', '-1', '=', '@file', '.', '..', '../..', '/', 'C:\\', ',', 'a,b', ' ', '  ', '\u3000', 'A', 'a'],
]

// Pairs that look alike, or are equal once somebody has normalised, trimmed or case-folded them.
const TWINS: readonly string[] = [
  ...['café', 'cafe\u0301', '\u212bngström', '\u00c5ngström', 'A\u030angström', 'ﬁle', 'file', 'straße', 'STRASSE', 'i', 'İ', 'ı'],
  ...['mail', 'Mail', 'mail ', ' mail', 'mail\u200b', 'mail\u00a0', 'mail\n', 'mаil', '１', '1', '01', '1.0', '한', '\u1112\u1161\u11ab'],
]

// 128 UTF-16 code units: the longest name there is.
const LONGEST: readonly string[] = [
  'x'.repeat(128),
  "'".repeat(128),
  '%'.repeat(128),
  '🚂'.repeat(64),
  'e\u0301'.repeat(64),
  '\u001b'.repeat(128),
]

const anyText = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => !text.includes(NUL) && text.isWellFormed())

/** Any text that may be stored, six pieces long at most. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PIECES) }, { weight: 1, arbitrary: anyText }), { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(''))

/** Any text that may be the name of a task, a queue or a person. */
export const hostileName: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: hostileText.filter((text) => text.length > 0 && text.length <= 128) },
  { weight: 1, arbitrary: fc.constantFrom(...PIECES, ...TWINS) },
  { weight: 1, arbitrary: fc.constantFrom(...LONGEST) },
)

const key = fc.oneof(hostileText, fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'toJSON', '', 'a', '0', 'length'))

/** Any JSON, as text so that `__proto__` is a key, with hostile text in its values and keys. */
export const hostileJson: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.jsonValue().map((value) => JSON.stringify(value)),
    hostileText.map((value) => JSON.stringify(value)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([own]) => own })
      .map((entries) => `{${entries.map(([own, value]) => `${JSON.stringify(own)}:${value}`).join(',')}}`),
  ),
})).value

// What JSON holds, at its edges. 500 levels are the deepest nesting that is accepted.
const EDGES: readonly string[] = [
  ...['null', 'true', 'false', '0', '-1', '""', '[]', '{}', '[[]]', '[{}]', '{"":{"":""}}', '[null,null]'],
  ...['9007199254740991', '9007199254740993', '-9223372036854775808', '18446744073709551615', '1e308', '5e-324', '0.1', '1e21', '-1.5e-7'],
  ...['"null"', '"NaN"', '"0x00"', '"2026-01-01T00:00:00.000Z"', '"\\u2028\\u2029"', '"\\ufffd"', '"\\u001b[31m"', '"{\\"a\\":1}"'],
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"prototype":null,"toString":1,"valueOf":2,"hasOwnProperty":3,"toJSON":4,"then":5,"length":-1}',
  '{"1":"b","0":"a","-1":"c","01":"d","café":1,"cafe\\u0301":2}',
  `${'['.repeat(500)}1${']'.repeat(500)}`,
  `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`,
  `${'[{"__proto__":'.repeat(250)}1${'}]'.repeat(250)}`,
  JSON.stringify(Array.from({ length: 2_000 }, (_, n) => n)),
  JSON.stringify('🚂'.repeat(5_000)),
]

// What is not written as it is, and yet is JSON: a sign, a date, an object that says itself what it is, a property of nothing.
const odd = fc.constantFrom<() => unknown>(
  () => -0,
  () => [-0, { zero: -0 }],
  () => new Date(0),
  () => ({ at: new Date(8.64e15), gone: undefined }),
  () => ({ toJSON: (own: string) => ({ own, __proto__: null }) }),
  () => ({ nested: { toJSON: () => ["it's", '"json"'] } }),
  () => Object.assign(Object.create(null) as object, { bare: true }),
  () => Object.freeze({ frozen: Object.freeze([1]) }),
  () => Buffer.from("'\u2028"),
  () => Number.MAX_VALUE,
)

const payload = fc.oneof(
  { weight: 8, arbitrary: hostileJson.map((text): unknown => JSON.parse(text)) },
  { weight: 1, arbitrary: fc.constantFrom(...EDGES).map((text): unknown => JSON.parse(text)) },
  { weight: 1, arbitrary: odd.map((make) => make()) },
)

/**
 * So many names, all different, each of which may be that of a task, a queue or a person: 1 to 128 code units. The same for
 * the same seed.
 */
export function hostileNames(count: number, seed: number): string[] {
  return distinct(hostileName, count, seed, (name) => name)
}

/**
 * So many payloads, all different, each of which may be stored: what comes back is `JSON.parse(JSON.stringify(payload))`,
 * compared by {@link canonical}. The same for the same seed.
 */
export function hostilePayloads(count: number, seed: number): unknown[] {
  return distinct(payload, count, seed, (value) => JSON.stringify(value))
}

function distinct<Value>(values: fc.Arbitrary<Value>, count: number, seed: number, keyOf: (value: Value) => string): Value[] {
  const found = new Map<string, Value>()
  for (const value of fc.sample(values, { numRuns: count * 3 + 10, seed })) {
    if (found.size < count) found.set(keyOf(value), value)
  }
  if (found.size < count) throw new Error(`only ${found.size} of ${count} values are different`)
  return [...found.values()]
}

/**
 * JSON text that is the same for equal values, whatever the order of their keys, which a store may change. By text, because
 * equality of objects overlooks a `__proto__` that has become a prototype.
 */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([own, item]) => `${JSON.stringify(own)}:${canonical(item)}`).join(',')}}`
}
