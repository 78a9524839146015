import ts from 'typescript'

/** Something in a source file that breaks a rule of the house. */
export interface Finding {
  readonly file: string
  readonly line: number
  readonly problem: string
}

/** The longest source file. Where to look for a seam is well before that. */
export const MAX_LINES = 400

/** The longest function, not counting the functions inside it: a closure that makes a thing is as long as what it does itself. */
export const MAX_FUNCTION_LINES = 50

/** Who may touch the machine's time, randomness and environment; paths below `src/`. */
const MACHINE = /^(core\/(clock|ids)\.ts$|cli\/|worker\/shutdown\.ts$)/
const SQL_HOMES = /^(sql|stores)\//

const TIMERS = new Set(['setTimeout', 'setInterval', 'performance'])
const MEMBERS = new Set(['Date.now', 'Math.random', 'process.env', 'process.hrtime', 'crypto.randomUUID', 'crypto.getRandomValues'])
const RANDOM_IMPORTS = new Set(['randomUUID', 'randomBytes', 'randomInt', 'randomFillSync', 'randomFill', 'getRandomValues'])
const TIME_MODULES = new Set(['node:timers', 'node:timers/promises', 'node:perf_hooks', 'timers', 'timers/promises', 'perf_hooks'])

// `commit` and `rollback` alone are words of our own as well: they count in a statement, not as a name.
const SQL = new RegExp(
  [
    String.raw`^\s*select\b[\s\S]*\bfrom\b`,
    String.raw`^\s*insert\s+(or\s+\w+\s+)?into\b`,
    String.raw`^\s*update\s+\S+\s+set\b`,
    String.raw`^\s*delete\s+from\s+\S`,
    String.raw`^\s*with\s+\w+\s+as\s*\(`,
    String.raw`^\s*(create|drop|alter)\s+(temp\s+)?(unique\s+)?(table|index|view|trigger|schema)\b`,
    String.raw`^\s*pragma\s+\w`,
    String.raw`^\s*begin\s+(immediate|exclusive|deferred|transaction)\s*;?\s*$`,
    String.raw`^\s*(begin|commit|rollback)\s*;\s*$`,
    String.raw`^\s*rollback\s+to\s+\w+\s*;?\s*$`,
    String.raw`^\s*savepoint\s+\w+\s*;?\s*$`,
  ].join('|'),
  'i',
)

/**
 * What breaks the rules in one file of the library:
 *
 * - time and randomness come from the injected clock and ids, the environment from the command line;
 * - SQL text is written under `sql/` and `stores/` alone;
 * - no file is longer than {@link MAX_LINES} lines, no function longer than {@link MAX_FUNCTION_LINES}.
 *
 * @param file the path below `src/`, with forward slashes
 */
export function checkSource(file: string, text: string): Finding[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const findings: Finding[] = []
  const found = (node: ts.Node, problem: string): void => {
    findings.push({ file, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, problem })
  }
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  if (lines > MAX_LINES)
    findings.push({ file, line: MAX_LINES + 1, problem: `has ${lines} lines; ${MAX_LINES} is the limit: find the seam` })

  const visit = (node: ts.Node): void => {
    const machine = MACHINE.test(file) ? undefined : machineUse(node)
    if (machine) found(node, `${machine}: time and randomness come from the injected Clock and Ids, the environment from the command line`)
    if (!SQL_HOMES.test(file) && isSql(node)) found(node, 'SQL text outside stores/ and sql/')
    if (ts.isFunctionLike(node)) {
      const own = ownLines(node, source)
      if (own > MAX_FUNCTION_LINES) found(node, `is a function of ${own} lines; ${MAX_FUNCTION_LINES} is the limit: find its parts`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return findings
}

function ownLines(node: ts.Node, source: ts.SourceFile): number {
  let inside = 0
  const visit = (child: ts.Node): void => {
    if (ts.isFunctionLike(child)) inside += lineCount(child, source)
    else ts.forEachChild(child, visit)
  }
  ts.forEachChild(node, visit)
  return lineCount(node, source) - inside
}

function lineCount(node: ts.Node, source: ts.SourceFile): number {
  const line = (at: number): number => source.getLineAndCharacterOfPosition(at).line
  return line(node.end) - line(node.getStart(source)) + 1
}

function machineUse(node: ts.Node): string | undefined {
  if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'Date' && !node.arguments?.length) {
    return 'new Date()'
  }
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'Date') return 'Date()'
  if (ts.isPropertyAccessExpression(node)) {
    const name = `${node.expression.getText()}.${node.name.text}`.replace(/^globalThis\./, '')
    return MEMBERS.has(name) ? name : undefined
  }
  if (ts.isIdentifier(node) && TIMERS.has(node.text) && isValueUse(node)) return node.text
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) return importUse(node, node.moduleSpecifier.text)
  return undefined
}

/** A use of the global value: not a type, and not a property, member or declaration of that name. */
function isValueUse(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isTypeQueryNode(parent) || ts.isTypeReferenceNode(parent)) return false
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node || parent.expression.getText() === 'globalThis'
  const declares = ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isMethodSignature(parent)
  return !(declares && parent.name === node)
}

function importUse(node: ts.ImportDeclaration, from: string): string | undefined {
  if (TIME_MODULES.has(from)) return `import from '${from}'`
  if (from !== 'node:crypto' && from !== 'crypto') return undefined
  const names = node.importClause?.namedBindings
  if (!names || !ts.isNamedImports(names)) return undefined
  return names.elements.map((element) => (element.propertyName ?? element.name).text).find((name) => RANDOM_IMPORTS.has(name))
}

function isSql(node: ts.Node): boolean {
  if (ts.isTemplateExpression(node)) return SQL.test([node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join(' x '))
  return ts.isStringLiteralLike(node) && SQL.test(node.text)
}
