import {
  type Comment,
  type DeclarationReflection,
  type ProjectReflection,
  type ReferenceReflection,
  type Reflection,
  ReflectionKind,
  type SignatureReflection,
} from 'typedoc'
import { type MarkdownPageEvent, MarkdownTheme, type MarkdownThemeContext } from 'typedoc-plugin-markdown'
import { GROUPS } from './arrange.ts'

/** Pages for people who read on a git host: an index, then for each export a signature, a sentence and a table. */
export class ReferenceTheme extends MarkdownTheme {
  override getRenderContext(page: MarkdownPageEvent<Reflection>): MarkdownThemeContext {
    const context = super.getRenderContext(page)
    context.urlTo = (target) => urlTo(context, target)
    context.templates.reflection = ({ model }) => {
      const text = model.kindOf(ReflectionKind.Project) ? contents(context, page.project) : pageOf(context, model)
      return text.replaceAll(/ +$/gm, '')
    }
    return context
  }
}

function contents(context: MarkdownThemeContext, project: ProjectReflection): string {
  const rank = (entry: Reflection): string => (entry.name === 'triphammer' ? '' : entry.name)
  const entries = project.children?.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)) ?? []
  const rows = entries.map((entry) => {
    const [first = ''] = summary(context, entry.comment).split(/(?<=[.])\s/)
    return `- [\`${titleOf(entry)}\`](${context.urlTo(entry)}): ${first}`
  })
  return lines('# Reference', 'Made from the comments in the source by `npm run reference`: change it there.', rows.join('\n'))
}

function pageOf(context: MarkdownThemeContext, entry: DeclarationReflection): string {
  const groups = groupsOf(entry)
  const index = groups.map(({ title, members }) => `- ${title}: ${members.map((member) => linkTo(context, member)).join(', ')}`)
  const shown = groups.filter(({ kind }) => kind !== ReflectionKind.Reference)
  return lines(
    `# ${titleOf(entry)}`,
    comment(context, entry.comment),
    index.join('\n'),
    ...shown.map(({ title, members }) =>
      lines(`## ${title}`, ...members.map((member) => lines(`### ${member.name}`, body(context, member)))),
    ),
  )
}

interface Group {
  readonly kind: ReflectionKind
  readonly title: string
  readonly members: readonly DeclarationReflection[]
}

function groupsOf({ children = [] }: DeclarationReflection): readonly Group[] {
  const groups = [...GROUPS].map(([kind, title]) => ({ kind, title, members: children.filter((member) => member.kind === kind) }))
  return groups.filter(({ members }) => members.length > 0)
}

function titleOf({ name }: Reflection): string {
  return name === 'triphammer' ? name : `triphammer/${name}`
}

function linkTo(context: MarkdownThemeContext, member: DeclarationReflection): string {
  const target = member.kind === ReflectionKind.Reference ? (member as ReferenceReflection).tryGetTargetReflectionDeep() : member
  return `[${member.name}](${context.urlTo(target ?? member)})`
}

// The anchors of a git host: a heading in lower case without punctuation, numbered where it comes again. TypeDoc counts others.
function urlTo({ page, router }: MarkdownThemeContext, target: Reflection): string {
  const entry = entryOf(target)
  if (!entry) return router.getFullUrl(target)
  const file = entry === page.model ? '' : router.getFullUrl(entry)
  if (entry === target) return file
  const heading = headingOf(target)
  const same = headingsOf(entry).filter((other) => slug(other.name) === slug(heading.name))
  const before = same.indexOf(heading)
  return `${file}#${slug(heading.name)}${before > 0 ? `-${before}` : ''}`
}

function entryOf(target: Reflection): DeclarationReflection | undefined {
  if (target.kindOf(ReflectionKind.Module)) return target as DeclarationReflection
  return target.parent && entryOf(target.parent)
}

// Properties stand in the table of what has them.
function headingOf(target: Reflection): DeclarationReflection {
  const isHeading =
    target.parent?.kindOf(ReflectionKind.Module) || (target.parent?.parent?.kindOf(ReflectionKind.Module) && isMethod(target))
  return isHeading ? (target as DeclarationReflection) : headingOf(target.parent!)
}

function headingsOf(entry: DeclarationReflection): readonly DeclarationReflection[] {
  return groupsOf(entry).flatMap(({ members }) => members.flatMap((member) => [member, ...(member.children ?? []).filter(isMethod)]))
}

function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '')
}

function body(context: MarkdownThemeContext, member: DeclarationReflection): string {
  if (member.signatures) return calls(context, member.signatures)
  const children = member.children ?? []
  const isObject = children.length > 0
  return lines(
    isObject ? generics(member) : context.partials.declarationTitle(member),
    comment(context, member.comment),
    member.extendedTypes && `Extends ${member.extendedTypes.map((type) => context.partials.someType(type)).join(', ')}.`,
    properties(context, children),
    ...children.filter(isMethod).map((child) => lines(`#### ${escaped(child.name)}()`, body(context, child))),
  )
}

function isMethod(child: Reflection): boolean {
  return child.kindOf(ReflectionKind.Method)
}

function escaped(name: string): string {
  return name.replaceAll(/[[\]]/g, String.raw`\$&`)
}

function generics({ name, typeParameters }: DeclarationReflection): string | undefined {
  return typeParameters && `\`${name}<${typeParameters.map((parameter) => parameter.name).join(', ')}>\``
}

// Overloads that share a comment share a block.
function calls(context: MarkdownThemeContext, signatures: readonly SignatureReflection[]): string {
  const blocks = new Map<string, string>()
  for (const signature of signatures) {
    const said = lines(summary(context, signature.comment), parameters(context, signature), tags(context, signature.comment))
    const title = context.partials.signatureTitle(signature)
    const before = blocks.get(said)
    blocks.set(said, before ? before.replace(/\n```$/, title.replace(/^```ts/, '')) : title)
  }
  return lines(...[...blocks].map(([said, title]) => lines(title, said)))
}

function parameters(context: MarkdownThemeContext, signature: SignatureReflection): string {
  const described = signature.parameters?.filter((parameter) => parameter.hasComment()) ?? []
  return described.map((parameter) => `- \`${parameter.name}\`: ${summary(context, parameter.comment)}`).join('\n')
}

function comment(context: MarkdownThemeContext, given: Comment | undefined): string {
  return lines(summary(context, given), tags(context, given))
}

function summary(context: MarkdownThemeContext, given: Comment | undefined): string {
  return given ? context.helpers.getCommentParts(given.summary).trim() : ''
}

function tags(context: MarkdownThemeContext, given: Comment | undefined): string {
  const shown = given?.blockTags.map(({ tag, name, content }) => {
    const text = context.helpers.getCommentParts(content).trim()
    if (tag === '@example') return text
    if (tag === '@typeParam') return `- \`${name}\`: ${text}`
    return `${tag.slice(1, 2).toUpperCase()}${tag.slice(2)}: ${text}`
  })
  return lines(...(shown ?? []))
}

function properties(context: MarkdownThemeContext, children: readonly DeclarationReflection[]): string | undefined {
  const rows = children
    .filter((child) => child.kindOf(ReflectionKind.Property))
    .map((child) => {
      const name = `\`${child.name}${child.flags.isOptional ? '?' : ''}\``
      return `| ${name} | ${cell(context.partials.someType(child.type!))} | ${cell(comment(context, child.comment))} |`
    })
  return rows.length === 0 ? undefined : ['| property | type | |', '|---|---|---|', ...rows].join('\n')
}

function cell(text: string): string {
  return text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/(?<!\\)\|/g, String.raw`\|`)
    .replace(/^ ?\\\| /, '')
}

function lines(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part).join('\n\n')
}
