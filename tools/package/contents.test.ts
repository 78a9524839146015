import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { dependencyTree, PACKAGE, ROOT } from './dependencies.ts'
import { installPackage, pack, packPackage } from './installed.ts'

// First as npm does it, which builds as well: with its scripts, whatever the environment says of them.
const published = pack(join(ROOT, PACKAGE), ['--dry-run', '--ignore-scripts=false'])
const tarball = packPackage()
const { home, manifest, remove } = installPackage(tarball)
const files = tarball.files.map(({ path }) => path)
afterAll(() => {
  remove()
  tarball.remove()
})

/** What npm runs at an install. `prepare` is run for a package that comes from git. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']

describe('the package', () => {
  it('holds the build, the sources its maps lead to, README and LICENSE, and nothing else', () => {
    const built = files.filter((file) => file.startsWith('dist/'))
    const sources = new Set(files.filter((file) => file.startsWith('src/')))
    expect(built.length).toBe(sources.size * 4) // .js, .d.ts and a map of each; more: a source is gone, remove dist
    expect(built.filter((file) => !sources.has(file.replace(/^dist/, 'src').replace(/(\.d\.ts|\.js)(\.map)?$/, '.ts')))).toEqual([])
    const rest = files.filter((file) => !/^(dist|src)\//.test(file))
    expect(rest.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(readFileSync(join(home, 'README.md'), 'utf8')).toContain('npm install triphammer')
  })

  it('is what npm packs in the checkout, which it leaves as it was', () => {
    expect(tarball.files).toEqual(published.files) // not the checksum: the same files are not always compressed to the same bytes
    expect(['README.md', 'LICENSE'].filter((file) => existsSync(join(ROOT, PACKAGE, file)))).toEqual([])
  })

  it('says what it is: licence, module format, the Node it needs', () => {
    const workspace = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly engines: object }
    expect(manifest).toMatchObject({ license: 'MIT', type: 'module', engines: workspace.engines })
    expect(readFileSync(join(home, 'LICENSE'), 'utf8')).toMatch(/^MIT License/)
    expect(manifest.engines.node).toMatch(/^>=\d+\.\d+$/)
  })

  it('has each entry as one file that is there, with its types beside it', () => {
    const targets = Object.entries(manifest.exports).filter(([path]) => path !== './package.json')
    expect(targets.length).toBeGreaterThan(0)
    for (const [path, file] of targets) {
      expect(file).toBe(`./dist/${path === '.' ? 'index' : path.slice(2)}.js`)
      expect(files).toEqual(expect.arrayContaining([file.slice(2), file.slice(2).replace(/\.js$/, '.d.ts')]))
    }
  })

  it('has each command as a file that says who runs it', () => {
    for (const file of Object.values(manifest.bin)) {
      expect(readFileSync(join(home, file), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    }
    expect(files).toEqual(expect.arrayContaining(Object.values(manifest.bin).map((file) => file.replace(/^\.\//, ''))))
  })

  it('runs nothing at an install', () => {
    expect(Object.keys(manifest.scripts).filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([])
  })

  it('leaves the choice of a driver to the user: every peer is optional, none is a dependency', () => {
    const peers = Object.keys(manifest.peerDependencies)
    expect(peers).toEqual(expect.arrayContaining(['libsql', 'better-sqlite3']))
    expect(peers.filter((name) => manifest.peerDependenciesMeta[name]?.optional !== true)).toEqual([])
    expect(peers.filter((name) => Object.hasOwn(manifest.dependencies, name))).toEqual([])
  })
})

describe('what it brings along', () => {
  const tree = dependencyTree(Object.keys(manifest.dependencies))

  it('is in the lockfile, all of it', () => {
    expect(tree.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)))
  })

  it.each(tree)('$path runs nothing at an install', ({ path, hasInstallScript }) => {
    expect(hasInstallScript).toBe(false)
    const { scripts = {} } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8')) as { readonly scripts?: object }
    expect(Object.keys(scripts).filter((name) => ['preinstall', 'install', 'postinstall'].includes(name))).toEqual([])
    expect(existsSync(join(ROOT, path, 'binding.gyp'))).toBe(false) // npm would build it, without a script
  })
})
