import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Installed } from './installed.ts'

/** What a program loaded, of the package and of others. */
export interface Graph {
  /** The files of the package, below its `dist`. */
  readonly own: readonly string[]
  /** Their folders, each once; `.` is where the entries are. */
  readonly folders: readonly string[]
  /** Bytes of these files. */
  readonly bytes: number
  /** Other packages, and `node:sqlite`. */
  readonly others: readonly string[]
  readonly printed: string
}

const RECORDER = new URL('recorder/record.mjs', import.meta.url).href

/** Runs a program in the folder and writes down which modules it loads. */
export function graphOf({ folder, home }: Installed, code: string): Graph {
  const program = join(realpathSync(folder), 'program.mjs')
  const list = join(folder, 'loaded.txt')
  writeFileSync(program, code)
  writeFileSync(list, '')
  const printed = execFileSync(process.execPath, ['--import', RECORDER, program], {
    cwd: folder,
    env: { ...process.env, LOADED: list },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const modules = new Set(
    readFileSync(list, 'utf8')
      .trimEnd()
      .split('\n')
      .map(pathOf)
      .filter((module) => module !== program),
  )
  const dist = join(realpathSync(home), 'dist') + sep
  const own = [...modules].filter((module) => module.startsWith(dist)).sort()
  return {
    own: own.map((file) => posix(relative(dist, file))),
    folders: [...new Set(own.map((file) => posix(dirname(relative(dist, file)))))].sort(),
    bytes: own.reduce((sum, file) => sum + statSync(file).size, 0),
    others: [
      ...new Set(
        [...modules]
          .filter((module) => !module.startsWith(dist))
          .map(packageOf)
          .filter((name) => name !== undefined),
      ),
    ].sort(),
    printed,
  }
}

function pathOf(module: string): string {
  return module.startsWith('file:') ? fileURLToPath(module) : module
}

function posix(path: string): string {
  return path.replaceAll(sep, '/')
}

// A file that is in no package is of the recorder; of what is built into Node only SQLite counts.
function packageOf(module: string): string | undefined {
  if (module.startsWith('node:')) return module === 'node:sqlite' ? module : undefined
  return /.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(module)?.[1]
}
