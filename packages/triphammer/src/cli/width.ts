// How wide text is in a terminal, as an upper bound: a line that is cut a little early is still a line. Characters of East Asia
// and pictures are counted as two columns, also those that some terminals draw in one; marks that combine as none only where
// every terminal combines them.
const ASCII = /^[\x20-\x7e]*$/
const MARK = /[\u0300-\u036f]/
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{16fe0}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|(?![\0-\x7f])\p{Emoji}/u

/** Columns that printable text takes at most. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const character of text) width += columnsOf(character)
  return width
}

/** Printable text that takes no more than so many columns, at least one; what was cut ends in `…`. */
export function cutTo(text: string, columns: number): string {
  let width = 0
  let end = 0
  // Where the text may end if the ellipsis has to follow.
  let last = 0
  for (const character of text) {
    width += columnsOf(character)
    if (width > columns) return `${text.slice(0, last)}…`
    end += character.length
    if (width < columns) last = end
  }
  return text
}

function columnsOf(character: string): number {
  return MARK.test(character) ? 0 : WIDE.test(character) ? 2 : 1
}
