// Who may import whom. docs/architecture.md draws it; this holds it. Type-only imports count as well.
const src = '^packages/triphammer/src/'

/** Files of `from` may import their own folder and the folders in `allowed`, nothing else of ours. */
const layer = (from, allowed, comment) => ({
  name: `layer-${from}`,
  comment,
  severity: 'error',
  from: { path: `${src}${from}/` },
  to: { path: '^(packages|examples|tools|bench)/', pathNot: `${src}(${[from, ...allowed].join('|')})/` },
})

export default {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'A circle means that two files are one idea, or that an idea is in the wrong file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    layer('core', [], 'core is pure: it imports nothing of ours.'),
    layer('store', ['core'], 'The seam knows the core alone.'),
    layer('extend', ['core', 'store'], 'Hooks know the core and the seam.'),
    layer('sql', ['core'], 'The transport under the SQL stores knows neither the seam nor a store.'),
    layer('client', ['core', 'store', 'extend'], 'A client never knows which store it talks to, and does not load the worker.'),
    layer('worker', ['core', 'store', 'extend'], 'A worker never knows which store it runs on.'),
    {
      name: 'layer-cli',
      comment: 'The command line does what a program of a user could do: it uses the public entries, and the core for checking input.',
      severity: 'error',
      from: { path: `${src}cli/` },
      to: { path: '^(packages|examples|tools|bench)/', pathNot: `${src}((cli|core)/|[^/]+[.]ts$)` },
    },
    {
      name: 'layer-testing',
      comment: 'The test kit puts together what a user could: the public entries, and the clock of the core.',
      severity: 'error',
      from: { path: `${src}testing/` },
      to: { path: '^(packages|examples|tools|bench)/', pathNot: `${src}((testing|core)/|[^/]+[.]ts$)` },
    },
    {
      name: 'layer-stores',
      comment: 'A store knows the core, the seam and the transport, and no other store.',
      severity: 'error',
      from: { path: `${src}stores/([^/]+)/` },
      to: { path: '^(packages|examples|tools|bench)/', pathNot: `${src}(core|store|sql|stores/$1)/` },
    },
    {
      name: 'core-does-no-io',
      comment: 'core is pure. node:crypto is where ids come from, and node:util/types says what a value is.',
      severity: 'error',
      from: { path: `${src}(core|store|extend)/` },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|util/types)$' },
    },
    {
      name: 'drivers-behind-a-store',
      comment: 'Drivers are optional peers: only the SQL stores and their transport load them.',
      severity: 'error',
      from: { path: src, pathNot: `${src}(sql|stores)/` },
      to: { path: '(^|/|:)(better-sqlite3|libsql|sqlite)(/|$)', pathNot: '^packages/' },
    },
    {
      name: 'producers-load-no-worker',
      comment: 'A program that only enqueues does not pay for the worker, by whatever way it would come in.',
      severity: 'error',
      from: { path: `${src}index[.]ts$` },
      to: { path: `${src}(worker|cli|testing)/`, reachable: true },
    },
    {
      name: 'command-line-alone-loads-its-libraries',
      comment: 'Who imports the library pays for no option parser, no table and no TypeScript loader.',
      severity: 'error',
      from: { path: src, pathNot: `${src}cli/` },
      to: { path: 'node_modules/(commander|jiti|cli-table3|cli-progress)/' },
    },
    {
      name: 'src-ships-alone',
      comment: 'What is published imports no test, no tool and no development dependency.',
      severity: 'error',
      from: { path: src },
      to: { path: '^(packages/[^/]+/(test|conformance)|examples|tools|bench)/' },
    },
    {
      name: 'no-dev-dependency',
      comment: 'It would be missing after an install.',
      severity: 'error',
      from: { path: src },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: 'node_modules/(libsql|better-sqlite3|@types)/' },
    },
    {
      name: 'examples-use-public-entries',
      comment: 'An example shows what a user can write; a benchmark measures what a user gets.',
      severity: 'error',
      from: { path: '^(examples|bench)/', pathNot: '[.]test[.]ts$' },
      to: { path: '^packages/', pathNot: '^packages/triphammer/dist/[^/]+$' },
    },
    {
      name: 'not-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(node:sqlite|better-sqlite3|libsql)$' },
    },
  ],
  options: {
    // What is built is where examples end, and is not looked at itself.
    doNotFollow: { path: '(^|/)(node_modules|dist)/' },
    exclude: { path: '^(examples|tools|bench)/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js'],
    },
  },
}
