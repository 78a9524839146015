import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))
/** The published package within it. */
export const PACKAGE = 'packages/triphammer'

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly hasInstallScript?: boolean
}

/** A package that an install brings along. */
export interface Dependency {
  readonly name: string
  /** Its folder below the checkout. */
  readonly path: string
  /** The registry says that npm runs something of it at the install. */
  readonly hasInstallScript: boolean
}

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/**
 * What npm installs for dependencies of the package, by the lockfile: these and theirs. Not the optional peers, which npm
 * leaves to the user.
 *
 * @param names what the package depends on
 */
export function dependencyTree(names: readonly string[]): readonly Dependency[] {
  const found = new Map<string, Dependency>()
  const visit = (from: string, wanted: readonly string[]): void => {
    for (const name of wanted) {
      const path = resolve(from, name)
      if (path === undefined || found.has(path)) continue
      found.set(path, { name, path, hasInstallScript: lock.packages[path]?.hasInstallScript === true })
      visit(path, namesOf(path))
    }
  }
  visit(PACKAGE, names)
  return [...found.values()]
}

function namesOf(path: string): readonly string[] {
  const { dependencies = {}, optionalDependencies = {} } = lock.packages[path] ?? {}
  return Object.keys({ ...dependencies, ...optionalDependencies })
}

// As Node looks for it: beside the package that asks, then further up.
function resolve(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = join(folder, 'node_modules', name)
    if (Object.hasOwn(lock.packages, path)) return path
    if (folder === '') return undefined
  }
}
