import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { graphOf } from './graph.ts'
import { type Installed, installPackage, packPackage, type Tarball } from './installed.ts'
import { ENTRY_LIMITS, TARBALL_LIMITS } from './limits.ts'

let tarball: Tarball
let installed: Installed
beforeAll(() => {
  tarball = packPackage()
  installed = installPackage(tarball, { peers: ['libsql'] })
}, 300_000)
afterAll(() => {
  installed.remove()
  tarball.remove()
})

/** What a program that only puts jobs in must not load. */
const NOT_OF_A_PRODUCER = /^(worker|cli|testing|config)\b/

describe('what an import loads', () => {
  it('is limited for each entry, and for no other', () => {
    expect(Object.keys(ENTRY_LIMITS).toSorted()).toEqual(installed.entries.toSorted())
  })

  it.each(Object.keys(ENTRY_LIMITS))('of %s: few files and bytes, of these folders and no other, and no other package', (entry) => {
    const { own, bytes, folders, others } = graphOf(installed, `import '${entry}'`)
    const limit = ENTRY_LIMITS[entry]!
    const now = `${entry} loads ${own.length} files of ${bytes} bytes:\n${own.join('\n')}\n`
    expect(folders, now).toEqual(limit.folders.toSorted())
    expect(own.length, now).toBeLessThanOrEqual(limit.files)
    expect(bytes, now).toBeLessThanOrEqual(limit.bytes)
    expect(others, now).toEqual([])
  })
})

describe('a program that only enqueues', () => {
  it.each(['triphammer', 'triphammer/sqlite'])('loads no worker, no command line and no driver with %s', (entry) => {
    const { own, others } = graphOf(installed, `import '${entry}'`)
    expect(own.length).toBeGreaterThan(0)
    expect(own.filter((file) => NOT_OF_A_PRODUCER.test(file))).toEqual([])
    expect(others).toEqual([])
  })

  it('nor when it enqueues; then the one driver that it needs', () => {
    const { own, others, printed } = graphOf(
      installed,
      `import { createClient, defineTask } from 'triphammer'
       const jobs = createClient()
       await jobs.enqueue(defineTask('work'), {})
       console.log(await jobs.count())
       await jobs.close()`,
    )
    expect(printed).toBe('1\n')
    expect(own.filter((file) => NOT_OF_A_PRODUCER.test(file))).toEqual([])
    expect(own.filter((file) => /^stores\/(?!sqlite\/)/.test(file))).toEqual([])
    expect(others.filter((name) => /^(node:sqlite|libsql|better-sqlite3)$/.test(name))).toHaveLength(1)
    expect(others.filter((name) => /^(commander|jiti|cli-table3|cli-progress|string-width)$/.test(name))).toEqual([])
  })

  it('is looked at closely enough: CommonJS and what is built in are seen as well', () => {
    const { others } = graphOf(installed, `import 'commander'; import 'cli-table3'; process.getBuiltinModule('node:sqlite')`)
    const builtin = process.getBuiltinModule('node:sqlite') ? ['node:sqlite'] : []
    expect(others).toEqual(expect.arrayContaining(['cli-table3', 'commander', 'string-width', 'strip-ansi', ...builtin]))
  })
})

describe('the tarball', () => {
  it('is no larger than its limit, packed and unpacked', () => {
    expect(tarball.size).toBeLessThanOrEqual(TARBALL_LIMITS.packedBytes)
    expect(tarball.unpackedSize).toBeLessThanOrEqual(TARBALL_LIMITS.unpackedBytes)
  })
})
