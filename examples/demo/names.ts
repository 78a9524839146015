import { isUtf8 } from 'node:buffer'

/**
 * A path below the indexed folder, as JSON can hold it. On Linux a file name is any bytes, on disk nothing says that they are
 * text. A name that is not valid UTF-8 is shown with the stray bytes as `\xNN`, and `raw` (hex) keeps what it really is, so
 * that the file can still be opened and two such names are never taken for one.
 */
export interface EntryName {
  readonly path: string
  readonly raw?: string
}

/** The name of a path given as bytes. */
export function toName(bytes: Buffer): EntryName {
  if (isUtf8(bytes)) return { path: bytes.toString('utf8') }
  return { path: escapeStrayBytes(bytes), raw: bytes.toString('hex') }
}

/** The bytes of a name: what the file system is asked for. */
export function toBytes({ path, raw }: EntryName): Buffer {
  return raw === undefined ? Buffer.from(path, 'utf8') : Buffer.from(raw, 'hex')
}

/** `folder` and `name` with a slash between them; either may be empty. */
export function joinPath(folder: Buffer, name: Buffer): Buffer {
  if (folder.length === 0 || name.length === 0) return folder.length === 0 ? name : folder
  const slash = folder.at(-1) === SLASH ? '' : '/'
  return Buffer.concat([folder, Buffer.from(slash), name])
}

const SLASH = 0x2f

function escapeStrayBytes(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const size = [1, 2, 3, 4].find((length) => at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)))
    text += size === undefined ? `\\x${bytes.toString('hex', at, at + 1)}` : bytes.toString('utf8', at, at + size)
    at += size ?? 1
  }
  return text
}

// Control characters and those that turn the direction of writing: in a file name they could redraw the terminal.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** Text that is safe to print on one line of a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => NAMED[char] ?? `\\u{${char.codePointAt(0)!.toString(16)}}`)
}

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
