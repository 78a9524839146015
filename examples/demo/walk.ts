import { readdir } from 'node:fs/promises'
import { joinPath } from './names.ts'

/** Something found below a folder. A symbolic link is an entry like a file: it is never followed. */
export interface Found {
  /** `folder`: one that could not be listed just now. Folders that could are walked into and not reported. */
  readonly kind: 'entry' | 'folder'
  /** Relative to the root, in the bytes of the file system. */
  readonly path: Buffer
}

/** Options of {@link walk}. */
export interface WalkOptions {
  /** The folder that paths are relative to. */
  readonly root: Buffer
  /** Where to begin, relative to the root; empty for the root itself. */
  readonly start: Buffer
  /** Names that are passed over wherever they occur, with all that is below. */
  readonly excluded: readonly string[]
}

/**
 * Walks a tree. Because links are not followed, every folder is visited once and the walk ends, whatever loops there are.
 *
 * @throws the error of `readdir`, if the start itself cannot be listed
 */
export async function* walk({ root, start, excluded }: WalkOptions): AsyncGenerator<Found> {
  const folders = [start]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await list(joinPath(root, folder), folder === start)
    if (!entries) yield { kind: 'folder', path: folder }
    for (const entry of entries ?? []) {
      if (excluded.includes(entry.name.toString('utf8'))) continue
      const path = joinPath(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else yield { kind: 'entry', path }
    }
  }
}

async function list(folder: Buffer, mustWork: boolean): Promise<Awaited<ReturnType<typeof listBytes>> | undefined> {
  try {
    return await listBytes(folder)
  } catch (error) {
    if (mustWork) throw error
    return undefined
  }
}

function listBytes(folder: Buffer) {
  return readdir(folder, { encoding: 'buffer', withFileTypes: true })
}
