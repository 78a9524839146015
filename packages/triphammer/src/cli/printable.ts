// What a terminal would act on, or would show as something else than it is: controls, and marks that turn the direction of
// text or take no room.
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
const UNSHOWN_IN_LINES = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/**
 * Text from the database or the user as a terminal may be given it: whatever is not simply shown is written as `\u001b`.
 *
 * @param breaks `'lines'`: line breaks and tabs stay
 */
export function printable(text: string, breaks: 'none' | 'lines' = 'none'): string {
  return text.replace(breaks === 'lines' ? UNSHOWN_IN_LINES : UNSHOWN, escaped)
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** A value as JSON. What a terminal would act on can only stand in strings there, and is written as `\u001b`: the same value to a program. */
export function jsonText(value: unknown, indent: 0 | 2 = 0): string {
  return JSON.stringify(value, null, indent).replace(UNSHOWN_IN_LINES, (character) =>
    Array.from({ length: character.length }, (_, i) => escaped(character.charAt(i))).join(''),
  )
}
