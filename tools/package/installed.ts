import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { dependencyTree, PACKAGE, ROOT } from './dependencies.ts'

/** What npm tells of a tarball that it packed. */
export interface Packed {
  readonly filename: string
  /** Bytes of the tarball, and of what is in it. */
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[]
}

/** What matters here of the published package.json. */
export interface Manifest {
  readonly version: string
  readonly license: string
  readonly type: string
  readonly engines: { readonly node: string }
  readonly files: readonly string[]
  readonly exports: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The package as it would be published. */
export interface Tarball extends Packed {
  /** Its path. */
  readonly file: string
  remove(): void
}

/** The package in an empty folder, as `npm install <tarball>` leaves it. */
export interface Installed {
  readonly folder: string
  /** The package itself. */
  readonly home: string
  readonly manifest: Manifest
  /** What can be imported: `triphammer`, `triphammer/worker`, … */
  readonly entries: readonly string[]
  /** Runs a program in the folder, with the Node that runs the tests. */
  run(code: string, flags?: readonly string[]): string
  remove(): void
}

/** Takes away the SQLite of a Node that has one; a flag that Node 20 does not know. */
export const WITHOUT_NODE_SQLITE: readonly string[] = isBuiltin('node:sqlite') ? ['--no-experimental-sqlite'] : []

/** How an install differs from the usual one. */
export interface InstallOptions {
  /** `false`: the package alone. */
  readonly dependencies?: boolean
  /** Optional peers that the user has installed as well. */
  readonly peers?: readonly string[]
}

/**
 * Packs the package as it has been built.
 *
 * In a copy, because the scripts around `npm pack` write into the folder: two that pack there at once take each other's files
 * away. What those scripts do is done here by hand; a test compares the outcome with theirs.
 */
export function packPackage(): Tarball {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-tarball-'))
  const copy = join(folder, 'copy')
  for (const name of ['package.json', 'dist', 'src']) cpSync(join(ROOT, PACKAGE, name), join(copy, name), { recursive: true })
  for (const name of ['README.md', 'LICENSE']) cpSync(join(ROOT, name), join(copy, name))
  const packed = pack(copy, ['--ignore-scripts', '--pack-destination', folder])
  return { ...packed, file: join(folder, packed.filename), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/**
 * Puts the package into an empty folder, beside its dependencies as the lockfile has them. Everything is copied, so that
 * nothing of the workspace can be found by accident, and nothing needs the network.
 */
export function installPackage(tarball: Tarball, options: InstallOptions = {}): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-installed-'))
  const home = join(folder, 'node_modules/triphammer')
  mkdirSync(home, { recursive: true })
  execFileSync('tar', ['-xzf', tarball.file, '-C', home, '--strip-components=1'])
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
  if (options.dependencies !== false) copyDependencies(folder, [...Object.keys(manifest.dependencies), ...(options.peers ?? [])])
  linkCommands(folder, manifest)
  return {
    folder,
    home,
    manifest,
    entries: entriesOf(manifest),
    run(code, flags = []) {
      writeFileSync(join(folder, 'program.mjs'), code)
      return execFileSync(process.execPath, [...flags, 'program.mjs'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Runs `npm pack` in a folder. */
export function pack(folder: string, flags: readonly string[]): Packed {
  const [packed] = JSON.parse(execFileSync('npm', ['pack', '--json', '--silent', ...flags], { cwd: folder, encoding: 'utf8' })) as [Packed]
  return packed
}

function entriesOf({ exports }: Manifest): readonly string[] {
  return Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => `triphammer${path.slice(1)}`)
}

function copyDependencies(folder: string, names: readonly string[]): void {
  for (const { path } of dependencyTree(names)) {
    const from = join(ROOT, path)
    if (!existsSync(from)) continue // of another platform
    const to = join(folder, path.startsWith(PACKAGE) ? join('node_modules/triphammer', path.slice(PACKAGE.length)) : path)
    // What is below in a node_modules of its own stands in the list by itself.
    cpSync(from, to, { recursive: true, filter: (file) => !relative(from, file).split(sep).includes('node_modules') })
  }
}

function linkCommands(folder: string, { bin }: Manifest): void {
  const commands = join(folder, 'node_modules/.bin')
  mkdirSync(commands, { recursive: true })
  for (const [name, file] of Object.entries(bin)) {
    symlinkSync(relative(commands, join(folder, 'node_modules/triphammer', file)), join(commands, name))
  }
}
