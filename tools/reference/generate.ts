import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Application, type ProjectReflection, type Reflection, ReflectionKind, TSConfigReader, TypeDocReader } from 'typedoc'
import { arrange } from './arrange.ts'
import { ReferenceTheme } from './theme.ts'

/**
 * Writes the reference of every public entry of the package to a folder: one file for each, and an index. `typedoc.json` says how.
 *
 * @returns false if TypeDoc had anything to complain about; it has told what
 */
export async function generateReference(root: string, out: string): Promise<boolean> {
  const app = await Application.bootstrapWithPlugins(
    { options: join(root, 'typedoc.json'), entryPoints: entryPoints(join(root, 'packages/triphammer')), out },
    [new TypeDocReader(), new TSConfigReader()],
  )
  app.renderer.defineTheme('reference', ReferenceTheme)
  app.options.setValue('theme', 'reference')
  const project = await app.convert()
  if (!project) return false
  arrange(project)
  app.options.setValue('intentionallyNotDocumented', undescribedParts(project))
  app.validate(project)
  await app.generateOutputs(project)
  return !app.logger.hasErrors() && !app.logger.hasWarnings()
}

/**
 * The sources of the entries that `exports` names, the main one last: a type that several entries export is described where it is met
 * first, and that is to be the entry which is about it.
 */
function entryPoints(home: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { readonly exports: Record<string, unknown> }
  const built = Object.values(exports).flatMap((target) => JSON.stringify(target).match(/[^"]+[.]js(?=")/) ?? [])
  const sources = [...new Set(built)].map((file) => join(home, file.replace('./dist/', 'src/').replace(/[.]js$/, '.ts')))
  return [...sources.slice(1), ...sources.slice(0, 1)]
}

// The parts of a type that is written out in place are described by the comment of what has that type.
function undescribedParts(project: ProjectReflection): string[] {
  const parts = project.getReflectionsByKind(ReflectionKind.Property | ReflectionKind.Method)
  const silent = parts.filter((part) => !part.hasComment() && isBelow(part, ReflectionKind.TypeLiteral))
  // TypeDoc asks for no comment below a parameter, and complains about an exception that was not needed.
  return [...new Set(silent.filter((part) => !isBelow(part, ReflectionKind.Parameter)).map((part) => part.getFriendlyFullName()))]
}

function isBelow({ parent }: Reflection, kind: ReflectionKind): boolean {
  return parent !== undefined && (parent.kindOf(kind) || isBelow(parent, kind))
}
