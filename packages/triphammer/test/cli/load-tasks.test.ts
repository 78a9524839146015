import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { refused } from '../../conformance/client.ts'
import { type LoadedTasks, loadTasks } from '../../src/cli/load-tasks.ts'
import { isTriphammerError, TriphammerError } from '../../src/core/errors.ts'
import { OutcomeSignal, signalledOutcome } from '../../src/core/outcome.ts'
import { createProject, type Project } from './project.ts'

const IMPORTS = "import { defineTask } from 'triphammer'\nimport { handle } from 'triphammer/worker'\n"
const handler = (name: string): string => `handle(defineTask('${name}'), () => '${name}')`

async function load(
  project: Project,
  ...paths: string[]
): Promise<LoadedTasks & { readonly names: string[]; readonly results: unknown[] }> {
  const loaded = await loadTasks(paths.map(project.path))
  const results = await Promise.all(loaded.handlers.map(({ run }) => run(undefined as never)))
  return { ...loaded, names: [...loaded.tasks.keys()], results }
}

describe('what a module gives', () => {
  it.each([
    ['a named export', `export const one = ${handler('one')}\nexport const two = ${handler('two')}`, ['one', 'two']],
    ['the default export', `export default ${handler('one')}`, ['one']],
    ['a list', `export default [${handler('one')}]\nexport const more = [${handler('two')}]`, ['one', 'two']],
    ['the members of the default export', `export default { one: ${handler('one')}, more: [${handler('two')}] }`, ['one', 'two']],
    ['under two names', `export const one = ${handler('one')}\nexport { one as two }\nexport default one`, ['one']],
  ])('handlers: %s', async (_, text, names) => {
    expect(await load(createProject({ 'a.ts': IMPORTS + text }), 'a.ts')).toMatchObject({ names, results: names })
  })

  it('tasks without handlers', async () => {
    const project = createProject({
      'a.ts': `${IMPORTS}export const one = defineTask('one', { queue: 'q' })\nexport default [defineTask('two')]`,
    })
    const { tasks, handlers, files } = await load(project, 'a.ts')
    expect([...tasks.keys()].toSorted()).toEqual(['one', 'two'])
    expect(tasks.get('one')?.policy).toEqual({ queue: 'q' })
    expect(handlers).toEqual([])
    expect(files).toEqual([project.path('a.ts')])
  })

  it('a function as the default export, for a task named after the file', async () => {
    const project = createProject({
      'tasks/mail/send.ts': 'export default async () => 1',
      'tasks/report.mjs': 'export default function () { return 2 }',
      'tasks/a.b.cjs': 'module.exports = () => 3',
      'tasks/c.cts': 'export = () => 4',
      // Translated by tsc to CommonJS.
      'tasks/d.cjs': 'Object.defineProperty(exports, "__esModule", { value: true })\nexports.default = () => 5\nexports.a = {}',
    })
    expect(await load(project, 'tasks')).toMatchObject({ names: ['a.b', 'c', 'd', 'mail/send', 'report'], results: [3, 4, 5, 1, 2] })
    expect(await load(project, 'tasks/mail/send.ts', 'tasks/report.mjs')).toMatchObject({ names: ['send', 'report'] })
  })

  it('a function as the default export, for the one task that is exported besides', async () => {
    const project = createProject({
      'a.ts': `${IMPORTS}export const task = defineTask('send_mail', { queue: 'mail' })\nexport default () => 1`,
      'b.ts': `${IMPORTS}const run = () => 2\nexport default run\nexport const report = handle(defineTask('report'), run)`,
    })
    const { handlers, names, results } = await load(project, 'a.ts', 'b.ts')
    expect({ names, results }).toEqual({ names: ['send_mail', 'report'], results: [1, 2] })
    expect(handlers[0]?.task.policy).toEqual({ queue: 'mail' })
  })

  it.each([
    ['two tasks', "export const a = defineTask('a'), b = defineTask('b')"],
    ['another handler', `export const a = ${handler('a')}`],
  ])('a function beside %s is refused, since nobody can tell what it is for', async (_, text) => {
    const project = createProject({ 'x.ts': `${IMPORTS}${text}\nexport default () => {}` })
    await refused(() => load(project, 'x.ts'), 'LOAD_FAILED', /x[.]ts: it cannot be told which task/)
  })

  it('nothing that only looks a little like it, and getters are left alone', async () => {
    const project = createProject({
      'a.ts': `${IMPORTS}
        export const good = ${handler('good')}
        export class Service {}
        export default class {}
        export const lazy = { get task() { throw new Error('touched') }, get name() { throw new Error('touched') }, run() {} }
        export const odd = new Proxy({}, { get() { throw new Error('touched') } })
        export const config = { name: 'x', policy: {} }, nothing = null, missing = undefined, fn = () => {}`,
    })
    expect(await load(project, 'a.ts')).toMatchObject({ names: ['good'] })
  })
})

describe('which files of a folder', () => {
  it('are modules, nested, in order; no declarations, tests, hidden files, packages or configurations', async () => {
    const file = 'export default () => {}'
    const taken = ['a.ts', 'b/c.mts', 'b/d/e.js', 'f.mjs', 'g.cjs', 'h.cts', 'i.tsx']
    const passed = [
      'a.d.ts',
      'b.d.mts',
      'c.test.ts',
      'd.spec.js',
      '__tests__/e.ts',
      'node_modules/f/g.ts',
      '.hidden/h.ts',
      '.i.ts',
      'j.json',
      'k.md',
    ]
    const project = createProject({
      ...Object.fromEntries(
        [...taken, ...passed].map((name) => [
          `tasks/${name}`,
          name.endsWith('cjs') ? 'module.exports = () => {}' : name.endsWith('cts') ? 'export = () => {}' : file,
        ]),
      ),
      'tasks/triphammer.config.ts': "throw new Error('not to be loaded')",
    })
    expect((await load(project, 'tasks')).files).toEqual(taken.map((name) => project.path(`tasks/${name}`)))
  })

  it('are each taken once: by several paths, links and circles of links, under the name of the place where they are', async () => {
    const project = createProject({ 'tasks/mail/send.ts': 'export default () => {}', 'elsewhere/far.ts': 'export default () => {}' })
    symlinkSync(project.path('tasks/mail'), project.path('tasks/also'))
    symlinkSync(project.path('tasks'), project.path('tasks/mail/round'))
    symlinkSync(project.path('tasks/mail/send.ts'), project.path('tasks/a.ts'))
    symlinkSync(project.path('elsewhere'), project.path('tasks/linked'))
    symlinkSync(project.path('nowhere'), project.path('tasks/broken.ts'))
    const { names, files } = await load(project, 'tasks', 'tasks/mail', 'tasks/also/send.ts', 'elsewhere')
    expect(names).toEqual(['mail/send', 'linked/far'])
    expect(files).toEqual([project.path('tasks/mail/send.ts'), project.path('elsewhere/far.ts')])
  })

  it('a file that is named is taken whatever its name, if it is a module', async () => {
    const project = createProject({ 'a.test.ts': 'export default () => {}', 'b.md': '' })
    expect((await load(project, 'a.test.ts')).names).toEqual(['a.test'])
    await refused(() => load(project, 'b.md'), 'LOAD_FAILED', /b[.]md is no module.*[.]ts/)
    await refused(() => load(project, 'none'), 'LOAD_FAILED', /no file and no folder .*none/)
  })
})

describe('two definitions', () => {
  it('that are the same object are one', async () => {
    const project = createProject({
      'tasks/index.ts': "export * from './send'\nexport { default as again } from './send.ts'",
      'tasks/send.ts': `${IMPORTS}export const one = ${handler('one')}\nexport default one`,
    })
    expect((await load(project, 'tasks')).names).toEqual(['one'])
  })

  it('of a task are refused, naming both files', async () => {
    const project = createProject({
      'a.ts': `${IMPORTS}export const a = defineTask('same')`,
      'b.ts': `${IMPORTS}export default ${handler('same')}`,
    })
    await refused(() => load(project, 'a.ts', 'b.ts'), 'DUPLICATE_TASK', /two tasks are named same, in .*a[.]ts and in .*b[.]ts/)
    const names = createProject({ 't/a.ts': 'export default () => {}', 't/a.js': 'export default () => {}' })
    await refused(() => load(names, 't'), 'DUPLICATE_TASK', /named a, in .*a[.]js and in .*a[.]ts/)
  })

  it('of a handler are refused, naming both files', async () => {
    const project = createProject({
      'task.ts': `${IMPORTS}export const task = defineTask('same')`,
      'a.ts': `${IMPORTS}import { task } from './task'\nexport const a = handle(task, () => 1)`,
      'b.ts': `${IMPORTS}export { task } from './task'\nexport default () => 2`,
    })
    await refused(() => load(project, 'a.ts', 'b.ts'), 'DUPLICATE_HANDLER', /task same has two handlers, in .*a[.]ts and in .*b[.]ts/)
  })
})

describe('what cannot be loaded', () => {
  it.each([
    ['throws', "\nthrow new Error('boom')", /a[.]ts cannot be loaded: boom [(]at .*tasks.a[.]ts:2:\d+[)]$/],
    ['throws no error', "throw 'boom'", /a[.]ts cannot be loaded: boom$/],
    ['imports one that throws', "import '../lib/deep'", /a[.]ts cannot be loaded: deep [(]at .*lib.deep[.]ts:3:\d+[)]$/],
    ['is no TypeScript', 'export const = 1', /a[.]ts cannot be loaded: .*Unexpected/],
    ['imports what is not there', "import './nothing'", /a[.]ts cannot be loaded: .*nothing[\s\S]*a[.]ts$/],
  ])('a file that %s is named', async (_, text, words) => {
    await refused(
      () => load(createProject({ 'tasks/a.ts': text, 'lib/deep.ts': "\n\nthrow new Error('deep')" }), 'tasks'),
      'LOAD_FAILED',
      words,
    )
  })

  it('nothing to be found is refused, naming what was looked at and what was passed over', async () => {
    const project = createProject({ 'tasks/a.ts': 'export const a = 1', 'tasks/b.test.ts': '' })
    await refused(
      () => load(project, 'tasks'),
      'NO_HANDLER',
      /in .*tasks; looked at .*tasks.a[.]ts; passed over .*b[.]test[.]ts; export handle/,
    )
    const many = createProject(Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [`${name}.ts`, ''])))
    await refused(() => load(many, '.'), 'NO_HANDLER', /looked at .*e[.]ts and 2 more; passed over .*node_modules/)
    expect(await loadTasks([])).toEqual({ tasks: new Map(), handlers: [], files: [] })
  })

  it('a file whose path makes no name of a task is named', async () => {
    const name = `${'x'.repeat(100)}/${'y'.repeat(100)}.ts`
    await refused(
      () => load(createProject({ [`t/${name}`]: 'export default () => {}' }), 't'),
      'INVALID_NAME',
      /name of the task of .*yyy[.]ts has 201/,
    )
  })
})

// In a process of its own: the test runner has another way to import.
async function loadedByNode(folder: string): Promise<unknown> {
  const script = `
    import { loadTasks } from ${JSON.stringify(new URL('../../dist/cli/load-tasks.js', import.meta.url).href)}
    import * as library from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)}
    globalThis.evaluated = []
    globalThis.library = library
    const { handlers } = await loadTasks([${JSON.stringify(folder)}])
    const results = await Promise.all(handlers.map(({ run }) => run()))
    console.log(JSON.stringify({ results, evaluated: globalThis.evaluated }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return JSON.parse(stdout)
}

describe('a module is there once', () => {
  it('whatever imports it: TypeScript, JavaScript, an import without an ending, or by an alias of tsconfig.json', async () => {
    const project = createProject({
      'package.json': '{}', // its .js files are ES modules without saying so
      'tsconfig.json': '{ "compilerOptions": { "baseUrl": ".", "paths": { "@app/*": ["lib/*"] } } }',
      'lib/kinds.ts': "evaluated.push('kinds')\nexport enum Kind { one = 1 }",
      'lib/plain.js': "evaluated.push('plain')\nexport const plain = (globalThis.plain = {})",
      'lib/late.ts': 'export const late: string = "late"',
      'tasks/a.ts': `import { Kind } from '../lib/kinds'
        import { plain } from '@app/plain'
        import { defineTask } from 'triphammer'
        export default () => [Kind.one, plain === globalThis.plain, defineTask === globalThis.library.defineTask]`,
      'tasks/b.ts': `import { Kind } from '@app/kinds'
        import { plain } from '../lib/plain'
        export default async () => [Kind.one, plain === globalThis.plain, (await import('../lib/late')).late]`,
      'tasks/c.js': `import { plain } from '../lib/plain.js'
        import { defineTask } from 'triphammer'
        await null
        export default () => [plain === globalThis.plain, defineTask === globalThis.library.defineTask]`,
      // CommonJS: written by hand, and translated from an ES module.
      'tasks/d.cjs': 'module.exports = () => "d"',
      'tasks/e.cjs': 'Object.defineProperty(exports, "__esModule", { value: true })\nexports.default = () => "e"',
    })
    expect(await loadedByNode(project.path('tasks'))).toEqual({
      results: [[1, true, true], [1, true, 'late'], [true, true], 'd', 'e'],
      evaluated: ['kinds', 'plain'],
    })
  })
})

it('markup in TypeScript is translated', async () => {
  const project = createProject({
    'node_modules/react/package.json': '{ "name": "react", "exports": { "./jsx-runtime": "./jsx.js" } }',
    'node_modules/react/jsx.js': 'exports.jsx = exports.jsxs = (type, props) => ({ type, props })',
    'letter.tsx': 'export default () => <b>{1 as number}</b>',
  })
  expect((await load(project, 'letter.tsx')).results).toEqual([{ type: 'b', props: { children: 1 } }])
})

it('two copies of the library understand each other: tasks, outcomes and errors', async () => {
  // The built package is another copy than the one under test.
  const project = createProject({
    'a.ts': `import { defineTask, discard } from 'triphammer'
      export const task = defineTask('a', { maxAttempts: 3 })
      const refusal = () => { try { defineTask('') } catch (error) { return error } }
      export default () => [discard('never again'), refusal()]`,
  })
  const { tasks, results } = await load(project, 'a.ts')
  const [signal, error] = results[0] as unknown[]
  expect(tasks.get('a')?.policy).toEqual({ maxAttempts: 3 })
  expect(signal instanceof OutcomeSignal || error instanceof TriphammerError).toBe(false)
  expect(signalledOutcome(signal)).toMatchObject({ kind: 'dead', error: 'never again' })
  expect(isTriphammerError(error, 'INVALID_NAME')).toBe(true)
})
