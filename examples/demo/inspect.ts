import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises'
import { languageOf } from './languages.ts'
import { joinPath, toName } from './names.ts'

/** What a look at one entry of the tree brought: the result of its job. */
export type Inspection = InspectedFile | SkippedEntry

/** A regular file, read to its end. */
export interface InspectedFile {
  readonly kind: 'file'
  readonly content: 'text' | 'binary' | 'empty'
  readonly language: string
  readonly bytes: number
  /** Lines of text; 0 for a binary file. */
  readonly lines: number
  readonly sha256: string
}

/** Something that is not a regular file, and what it is instead. */
export interface SkippedEntry {
  readonly kind: 'skipped'
  readonly reason: string
}

/**
 * Looks at one entry: reads it if it is a regular file and says what it is if it is not. Nothing else is ever opened, since
 * opening a FIFO waits for a writer and opening a device may do anything.
 *
 * @param path relative to `root`
 * @throws the error of the file system: ENOENT, EACCES, EBUSY …
 */
export async function inspectEntry(root: Buffer, path: Buffer, signal: AbortSignal): Promise<Inspection> {
  const full = joinPath(root, path)
  const stats = await lstat(full)
  if (stats.isSymbolicLink()) return { kind: 'skipped', reason: await describeLink(root, full) }
  if (!stats.isFile()) return { kind: 'skipped', reason: kindOf(stats) }

  // Between the look and the opening the file may have become something else: a link is refused, a FIFO does not block.
  const file = await open(full, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const opened = await file.stat()
    if (!opened.isFile()) return { kind: 'skipped', reason: kindOf(opened) }
    return await readFile(file, opened.size, languageOf(toName(path).path), signal)
  } finally {
    await file.close()
  }
}

const CHUNK_BYTES = 262_144
const LEAST_CHUNK_BYTES = 4_096
// As git does it: a NUL among the first 8,000 bytes means that this is no text.
const SNIFFED_BYTES = 8_000
const NEWLINE = 0x0a

async function readFile(file: FileHandle, size: number, language: string, signal: AbortSignal): Promise<InspectedFile> {
  const hash = createHash('sha256')
  // Read in chunks, so that a file larger than the memory is no matter.
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(LEAST_CHUNK_BYTES, size + 1)))
  let bytes = 0
  let newlines = 0
  let lastByte = NEWLINE
  let binary = false
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
    if (bytesRead === 0) break
    const chunk = buffer.subarray(0, bytesRead)
    hash.update(chunk)
    if (bytes < SNIFFED_BYTES) binary ||= chunk.subarray(0, SNIFFED_BYTES - bytes).includes(0)
    newlines += countNewlines(chunk)
    lastByte = chunk[bytesRead - 1]!
    bytes += bytesRead
  }
  return {
    kind: 'file',
    content: bytes === 0 ? 'empty' : binary ? 'binary' : 'text',
    language: binary ? 'Binary' : language,
    bytes,
    // The last line counts, whether or not a newline ends it.
    lines: binary ? 0 : newlines + (lastByte === NEWLINE ? 0 : 1),
    sha256: hash.digest('hex'),
  }
}

function countNewlines(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count++
  return count
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'FIFO'
  if (stats.isSocket()) return 'socket'
  if (stats.isCharacterDevice()) return 'character device'
  if (stats.isBlockDevice()) return 'block device'
  return stats.isDirectory() ? 'became a folder after the scan' : 'unknown kind of file'
}

async function describeLink(root: Buffer, full: Buffer): Promise<string> {
  const target = toName(await readlink(full, { encoding: 'buffer' })).path
  return `${await kindOfLink(root, full)} → ${target}`
}

async function kindOfLink(root: Buffer, full: Buffer): Promise<string> {
  try {
    const stats = await stat(full)
    if (!stats.isDirectory()) return 'symbolic link'
    const end = await realpath(full, { encoding: 'buffer' })
    const folder = await realpath(full.subarray(0, full.lastIndexOf('/')), { encoding: 'buffer' })
    const leadsBack = isWithin(folder, end) && isWithin(end, root)
    return leadsBack ? 'symbolic link, loops back to a folder above' : 'symbolic link to a folder'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ELOOP') return 'symbolic link, loop'
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'symbolic link, dangling'
    return `symbolic link, target not accessible (${String(code)})`
  }
}

/** Whether `path` is `folder` or below it. */
function isWithin(path: Buffer, folder: Buffer): boolean {
  if (!path.subarray(0, folder.length).equals(folder)) return false
  return path.length === folder.length || path[folder.length] === SLASH || folder.at(-1) === SLASH
}

const SLASH = 0x2f
