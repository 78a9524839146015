// Preloaded by a program whose modules are of interest. The hooks see ES modules; of CommonJS modules, which on some versions
// of Node they see only the first, the cache of `require` tells; of those that are built in, the process itself.
import { appendFileSync } from 'node:fs'
import { createRequire, register } from 'node:module'

const file = process.env.LOADED
register('./hooks.mjs', import.meta.url, { data: file })
process.on('exit', () => {
  const builtin = process.moduleLoadList.filter((name) => /^NativeModule (sqlite|worker_threads)$/.test(name))
  const required = Object.keys(createRequire(import.meta.url).cache)
  appendFileSync(file, [...required, ...builtin.map((name) => name.replace('NativeModule ', 'node:'))].map((line) => `${line}\n`).join(''))
})
