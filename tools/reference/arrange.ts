import {
  ArrayType,
  type DeclarationReflection,
  LiteralType,
  type ProjectReflection,
  ReferenceType,
  ReflectionKind,
  type SignatureReflection,
  type SomeType,
  TypeOperatorType,
  UnionType,
} from 'typedoc'

/** The kinds of exports and the titles of their groups, in the order in which a page shows them. */
export const GROUPS: ReadonlyMap<ReflectionKind, string> = new Map([
  [ReflectionKind.Function, 'Functions'],
  [ReflectionKind.Variable, 'Constants'],
  [ReflectionKind.Class, 'Classes'],
  [ReflectionKind.Interface, 'Interfaces'],
  [ReflectionKind.TypeAlias, 'Types'],
  [ReflectionKind.Reference, 'Described elsewhere'],
])

/**
 * Makes of what TypeDoc has found what a page shows: the main entry has the package's name, exports stand in the order of the alphabet
 * and members in that of the source, what was inherited is described where it comes from, and a union that has a name is called by it.
 */
export function arrange(project: ProjectReflection): void {
  for (const member of project.getReflectionsByKind(ReflectionKind.All) as DeclarationReflection[]) {
    if (member.inheritedFrom) project.removeReflection(member)
  }
  for (const entry of project.children ?? []) {
    if (entry.name === 'index') entry.name = 'triphammer'
    entry.children?.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
  }
  nameUnions(project)
}

// TypeScript forgets the name of a union that was made from a list: `(typeof STATES)[number]`.
function nameUnions(project: ProjectReflection): void {
  const aliases = project.getReflectionsByKind(ReflectionKind.TypeAlias) as DeclarationReflection[]
  const names = new Map<readonly string[], SomeType>()
  for (const alias of aliases) {
    if (isLiteralUnion(alias.type))
      names.set(alias.type.types.map(String), ReferenceType.createResolvedReference(alias.name, alias, project))
  }
  for (const holder of project.getReflectionsByKind(ReflectionKind.All) as (DeclarationReflection | SignatureReflection)[]) {
    if (holder.type && !isNamed(holder, names)) holder.type = renamed(holder.type, names)
  }
}

function renamed(type: SomeType, names: ReadonlyMap<readonly string[], SomeType>): SomeType {
  if (type instanceof ArrayType) return new ArrayType(renamed(type.elementType, names))
  if (type instanceof TypeOperatorType) return new TypeOperatorType(renamed(type.target, names), type.operator)
  if (!(type instanceof UnionType)) return type
  const values = type.types.map(String)
  const [known, reference] = [...names].find(([all]) => all.every((value) => values.includes(value))) ?? []
  const rest = type.types.filter((part) => !known?.includes(String(part))).map((part) => renamed(part, names))
  const parts = reference ? [reference, ...rest] : rest
  return parts.length === 1 ? parts[0]! : new UnionType(parts)
}

function isNamed({ name, type }: DeclarationReflection | SignatureReflection, names: ReadonlyMap<readonly string[], SomeType>): boolean {
  return isLiteralUnion(type) && [...names.values()].some((reference) => String(reference) === name)
}

function isLiteralUnion(type: SomeType | undefined): type is UnionType {
  return type instanceof UnionType && type.types.length > 2 && type.types.every((part) => part instanceof LiteralType)
}
