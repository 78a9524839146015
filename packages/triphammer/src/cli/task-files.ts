import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, extname, join, relative } from 'node:path'
import { TriphammerError } from '../core/errors.ts'
import { MODULE_ENDINGS } from './load-module.ts'

/** A file that may hold tasks. */
export interface TaskFile {
  /** Absolute, without symbolic links: a file that can be reached by two ways is one. */
  readonly path: string
  /** Its path below the folder that was given, without the ending and with forward slashes; of a file that was given, its name. */
  readonly name: string
}

/** The files of some paths, in order, and what was passed over in their folders. */
export interface TaskFiles {
  readonly files: readonly TaskFile[]
  readonly skipped: readonly string[]
}

const SKIPPED_FOLDER = /^(\.|node_modules$|__tests__$)/
// Declarations, tests, and the configuration of the command line.
const SKIPPED_FILE = /^\.|\.d\.([^.]+\.)?[cm]?ts$|\.(test|spec)\.|^triphammer\.config\./

/**
 * Finds the modules of files and folders. A file that is given by name is taken; folders are walked, in order, without
 * `node_modules`, hidden folders, declarations and tests. Symbolic links are followed, after what is really there.
 *
 * @param paths absolute
 * @throws TriphammerError `LOAD_FAILED`: there is no such file or folder, or it is no module
 */
export async function findTaskFiles(paths: readonly string[]): Promise<TaskFiles> {
  const files = new Map<string, TaskFile>()
  const skipped: string[] = []
  const walked = new Set<string>()

  const take = (path: string, name: string): void => {
    if (!files.has(path)) files.set(path, { path, name: name.slice(0, name.length - extname(name).length).replaceAll('\\', '/') })
  }
  const walk = async (folder: string, root: string): Promise<void> => {
    const real = await realpath(folder)
    if (walked.has(real)) return
    walked.add(real)
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry)
      const found = await stat(path).catch(() => undefined) // a link to what is not there
      const isFolder = found?.isDirectory() ?? false
      const isModule = (found?.isFile() ?? false) && MODULE_ENDINGS.includes(extname(entry))
      if ((isFolder && SKIPPED_FOLDER.test(entry)) || (!isFolder && (!isModule || SKIPPED_FILE.test(entry)))) skipped.push(path)
      else if (isFolder) await walk(path, root)
      else take(await realpath(path), relative(root, path))
    }
  }

  for (const path of paths) {
    const found = await stat(path).catch(() => undefined)
    if (!found) throw new TriphammerError('LOAD_FAILED', `there is no file and no folder ${path}`)
    if (found.isDirectory()) await walk(path, path)
    else if (MODULE_ENDINGS.includes(extname(path))) take(await realpath(path), basename(path))
    else throw new TriphammerError('LOAD_FAILED', `${path} is no module; its name must end in one of ${MODULE_ENDINGS.join(' ')}`)
  }
  return { files: [...files.values()], skipped }
}

// By name; links come last, so that what they lead to has the name that it has where it is.
async function entriesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const rank = (isLink: boolean): number => (isLink ? 1 : 0)
  return entries
    .toSorted((a, b) => rank(a.isSymbolicLink()) - rank(b.isSymbolicLink()) || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
}
