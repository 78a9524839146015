import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** A folder as a project of a user's, with this package installed as it is built. It is gone after the test. */
export interface Project {
  readonly folder: string
  /** Writes files by their paths in it, folders included, and returns the path of the first. */
  write(files: Readonly<Record<string, string>>): string
  path(name: string): string
}

/** Makes a {@link Project}. */
export function createProject(files: Readonly<Record<string, string>> = {}): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'triphammer-project-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(fileURLToPath(new URL('../..', import.meta.url)), join(folder, 'node_modules/triphammer'))
  const path = (name: string): string => join(folder, name)
  const write = (more: Readonly<Record<string, string>>): string => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(dirname(path(name)), { recursive: true })
      writeFileSync(path(name), text)
    }
    return path(Object.keys(more)[0] ?? '.')
  }
  write(files)
  return { folder, write, path }
}
