import { execFile, spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { freshFile } from '../sqlite/place.ts'

const SCRIPT = fileURLToPath(new URL('disk.mjs', import.meta.url))

interface Refusal {
  readonly count: number
  readonly code: string
  readonly message: string
}

interface WorkerCounts {
  readonly unavailable: number
  readonly available: number
  readonly lost: number
  readonly codes: readonly string[]
}

/** What the script tells. */
interface Told {
  readonly ids: { readonly plain: readonly string[]; readonly work: readonly string[] }
  readonly accepted: readonly string[]
  readonly inStore: number
  readonly refusals: readonly Refusal[]
  readonly starts: readonly { readonly name: 'stays' | 'leaves'; readonly id: string }[]
  readonly stopMs: number
  readonly stays: WorkerCounts
  readonly leaves: WorkerCounts
  readonly effects: readonly string[]
  readonly large: {
    readonly tried: number
    readonly before: number
    readonly code: string
    readonly after: number
    readonly inTheEnd: number
  }
  readonly finishes: readonly string[]
  readonly completed: readonly string[]
  readonly attempts: readonly number[]
  readonly integrity: readonly unknown[]
}

/** A way to run a script on a disk that can be full. */
interface Disk {
  readonly name: string
  readonly way: 'full' | 'limit'
  /** What SQLite calls it. */
  readonly words: string
  readonly isHere: boolean
  /** The command before that of the script. */
  before(folder: string): readonly string[]
}

function works(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args).status === 0
}

// Larger than the log ever is: SQLite copies it into the file, which makes its room anew, at 4 MB.
// A mount that nobody else sees and that is gone with the process; whoever is not root is root in a world of its own.
const unshare = ['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'])] as const
const mount = (folder: string): readonly string[] => [
  ...unshare,
  ...['sh', '-c', 'mount -t tmpfs -o size=48m tmpfs "$0" && exec "$@"', folder],
]

const DISKS: readonly Disk[] = [
  {
    name: 'a disk of 48 MiB that another file fills',
    way: 'full',
    words: 'the disk is full',
    isHere: works(mount('/tmp')[0]!, ...mount('/tmp').slice(1), 'true'),
    before: mount,
  },
  {
    name: 'a limit on the size of files',
    way: 'limit',
    words: 'reports an error',
    isHere: works('prlimit', '--version'),
    before: () => [],
  },
]

it('there is a way to have a full disk', () => {
  expect(DISKS.some(({ isHere }) => isHere)).toBe(true)
})

for (const { name, way, words, isHere, before } of DISKS) {
  it.skipIf(!isHere)(
    `[I4] [I8] [I10] ${name}: enqueues are refused whole, workers go on when there is room, nothing is lost`,
    {
      timeout: 120_000,
    },
    async () => {
      const file = freshFile()
      const [command, ...args] = [...before(dirname(file)), process.execPath, SCRIPT, file, way]
      const { stdout } = await promisify(execFile)(command!, args, { timeout: 110_000, killSignal: 'SIGKILL' })
      const told = JSON.parse(stdout) as Told

      expect(told.refusals).toHaveLength(3)
      for (const { code, message } of told.refusals) {
        expect(code).toBe('STORE_UNAVAILABLE')
        expect(message).toContain(words)
      }
      expect(told.refusals[0]!.count).toBe(300)
      // What was refused is not there, nor any part of it; what was accepted is done, once.
      expect(told.inStore).toBe(told.accepted.length)
      expect(told.completed).toEqual(told.accepted)
      expect(told.finishes).toEqual(told.accepted)
      expect(told.effects).toEqual([...told.ids.work].sort())
      expect(told.integrity).toEqual([{ integrity_check: 'ok' }])

      const { tried, before: there, code, after, inTheEnd } = told.large
      expect([code, after, inTheEnd]).toEqual(['STORE_UNAVAILABLE', there, there + tried])

      // The worker that stayed wrote later what its handlers had returned meanwhile; none of its jobs ran a second time.
      const runs = told.starts.filter(({ id }) => told.ids.plain.includes(id))
      const byTheFirst = runs.filter((run) => run.name === 'stays').map(({ id }) => id)
      expect(new Set(byTheFirst).size).toBe(byTheFirst.length)
      // The one that stopped could not: it did not wait for ever, and its jobs were reclaimed.
      const again = runs.filter(({ id, name: who }) => who === 'stays' && runs.some((other) => other.id === id && other.name === 'leaves'))
      expect(again.length).toBeGreaterThan(0)
      expect(again.length).toBeLessThanOrEqual(2)
      expect(told.stopMs).toBeLessThan(20_000)
      expect([told.stays, told.leaves]).toMatchObject([
        { unavailable: 1, available: 1, lost: 0, codes: ['STORE_UNAVAILABLE'] },
        { unavailable: 1, available: 0, lost: 0, codes: ['STORE_UNAVAILABLE'] },
      ])
      expect(Math.max(...told.attempts)).toBeLessThanOrEqual(3)
    },
  )
}
