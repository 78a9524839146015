import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { problemAffectsResolutionKind } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Installed, installPackage, packPackage, type Tarball } from './installed.ts'

let tarball: Tarball
let installed: Installed
beforeAll(() => {
  tarball = packPackage()
  installed = installPackage(tarball, { dependencies: false })
}, 300_000)
afterAll(() => {
  installed.remove()
  tarball.remove()
})

/** The ways in which an ES module package is found. `node10` knows no exports, `node16-cjs` no ES modules before Node 20.19. */
const ESM_ONLY = ['node16-esm', 'bundler'] as const

describe('the tarball', () => {
  it('has nothing that publint would complain about, suggestions included', async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(tarball.file)
    const { messages, pkg } = await publint({ pack: { tarball: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer } })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
    expect(pkg['version']).toBe(installed.manifest.version)
  })

  it('has types for each entry, for the modules that it holds', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball.file)))
    if (!analysis.types) throw new Error('the package has no types')
    const paths = installed.entries.map((entry) => entry.replace('triphammer', '.'))
    expect(Object.keys(analysis.entrypoints)).toEqual(expect.arrayContaining(paths))
    for (const path of paths) {
      const { resolutions } = analysis.entrypoints[path]!
      for (const kind of ESM_ONLY) expect(resolutions[kind].resolution).toMatchObject({ isTypeScript: true })
    }
    const problems = analysis.problems.filter((problem) => ESM_ONLY.some((kind) => problemAffectsResolutionKind(problem, kind, analysis)))
    expect(problems).toEqual([])
  }, 300_000)
})
