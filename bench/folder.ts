import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { show } from './figures.ts'

const folders = new Set<string>()

// A run that is stopped half way does not leave gigabytes behind.
process.on('exit', () => {
  for (const folder of folders) remove(folder)
})

/**
 * Calls `act` with a new folder, and removes the folder afterwards.
 *
 * @param needBytes refuse to begin with less free space than this
 */
export async function inFolder<T>(act: (folder: string) => Promise<T>, needBytes = 0): Promise<T> {
  const { bavail, bsize } = statfsSync(tmpdir())
  if (bavail * bsize < needBytes) {
    throw new Error(
      `${tmpdir()} has ${show((bavail * bsize) / 1e6)} MB free and ${show(needBytes / 1e6)} are needed; set TMPDIR to a folder with more`,
    )
  }
  const folder = mkdtempSync(join(tmpdir(), 'triphammer-bench-'))
  folders.add(folder)
  try {
    return await act(folder)
  } finally {
    remove(folder)
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  folders.delete(folder)
}

/** Calls `act` with the path of a database that does not exist yet, and removes it afterwards. */
export function withFile<T>(act: (file: string) => Promise<T>): Promise<T> {
  return inFolder((folder) => act(join(folder, 'jobs.db')))
}
