import { posix } from 'node:path'

const LANGUAGES: Readonly<Record<string, string>> = {
  Assembly: 'asm s',
  Astro: 'astro',
  C: 'c h',
  'C#': 'cs csx',
  'C++': 'cc cpp cxx hh hpp hxx ipp',
  Clojure: 'clj cljc cljs edn',
  CMake: 'cmake',
  CSS: 'css',
  CSV: 'csv tsv',
  Dart: 'dart',
  Elixir: 'ex exs',
  Elm: 'elm',
  Erlang: 'erl hrl',
  'F#': 'fs fsi fsx',
  Fortran: 'f f90 f95',
  Go: 'go',
  GraphQL: 'gql graphql',
  Groovy: 'gradle groovy',
  Haskell: 'hs lhs',
  HCL: 'hcl tf tfvars',
  HTML: 'htm html xhtml',
  INI: 'cfg conf ini properties',
  Java: 'java',
  JavaScript: 'cjs js jsx mjs',
  JSON: 'json json5 jsonc jsonl ndjson webmanifest',
  Julia: 'jl',
  Kotlin: 'kt kts',
  Less: 'less',
  Lua: 'lua',
  Markdown: 'markdown md mdx',
  Nix: 'nix',
  'Objective-C': 'm mm',
  OCaml: 'ml mli',
  Perl: 'pl pm',
  PHP: 'php',
  'Plain text': 'log text txt',
  PowerShell: 'ps1 psm1',
  'Protocol Buffers': 'proto',
  Python: 'py pyi pyw',
  R: 'r rmd',
  reStructuredText: 'rst',
  Ruby: 'gemspec rake rb',
  Rust: 'rs',
  Sass: 'sass scss',
  Scala: 'sbt scala',
  Shell: 'bash fish ksh sh zsh',
  'Source map': 'map',
  SQL: 'sql',
  Svelte: 'svelte',
  SVG: 'svg',
  Swift: 'swift',
  TeX: 'bib cls sty tex',
  TOML: 'toml',
  TypeScript: 'cts mts ts tsx',
  Vue: 'vue',
  XML: 'plist xml xsd xsl',
  YAML: 'yaml yml',
  Zig: 'zig',
}

const BY_EXTENSION = new Map(
  Object.entries(LANGUAGES).flatMap(([language, extensions]) => extensions.split(' ').map((extension) => [`.${extension}`, language])),
)

const BY_NAME: ReadonlyMap<string, string> = new Map([
  ['cmakelists.txt', 'CMake'],
  ['dockerfile', 'Dockerfile'],
  ['gemfile', 'Ruby'],
  ['licence', 'Plain text'],
  ['license', 'Plain text'],
  ['makefile', 'Makefile'],
  ['rakefile', 'Ruby'],
  ['readme', 'Plain text'],
])

/** What a text file of this name is written in, as far as its name tells. */
export function languageOf(path: string): string {
  const name = posix.basename(path).toLowerCase()
  return BY_NAME.get(name) ?? BY_EXTENSION.get(posix.extname(name)) ?? 'Other'
}
