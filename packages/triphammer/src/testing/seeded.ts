/**
 * Makes a source of bytes that gives the same ones for the same seed, so that ids and jitter are the same in each run of a
 * test. Mulberry32: good enough to spread ids and waits, and nothing else is asked of it.
 */
export function seededBytes(seed: number): (bytes: Uint8Array) => void {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) bytes[at] = next() >>> 24
  }
}
