import { createHash } from 'node:crypto'

/**
 * An id that follows from what the job is about: whoever enqueues the same piece of work again, after a crash or in a second
 * copy of the program, arrives at the same id, and the store answers `duplicate` instead of doing the work twice.
 *
 * It has the form of a UUIDv8 (RFC 9562 §5.8, "vendor-specific"): 122 bits of a SHA-256.
 */
export function idOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    // The length goes first, so that ('a', 'bc') and ('ab', 'c') are not the same.
    hash.update(`${bytes.length}:`).update(bytes)
  }
  const bytes = hash.digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
