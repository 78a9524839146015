import { createHash } from 'node:crypto'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXCLUDED } from './handlers.ts'
import { type Inspection, inspectEntry } from './inspect.ts'
import { growOddTree, LARGE_BYTES, tempFolder } from './test/odd-tree.ts'
import { walk } from './walk.ts'

const root = tempFolder()
let socket: Server

beforeAll(async () => {
  socket = await growOddTree(root)
})
afterAll(() => {
  socket.close()
  rmSync(root, { recursive: true })
})

const look = (path: string | Buffer): Promise<Inspection> => inspectEntry(Buffer.from(root), Buffer.from(path), AbortSignal.timeout(20_000))
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')

describe('the walk', () => {
  const found = async (start = ''): Promise<string[]> => {
    const paths: string[] = []
    for await (const { kind, path } of walk({ root: Buffer.from(root), start: Buffer.from(start), excluded: EXCLUDED })) {
      paths.push(`${kind} ${path.toString('latin1')}`)
    }
    return paths.sort()
  }

  it('finds every entry once, follows no link and passes over what is excluded', async () => {
    const latin = (text: string): string => Buffer.from(text).toString('latin1')
    expect(await found()).toEqual(
      [
        ...['dangling', 'empty.py', 'fifo', 'large.dat', 'new\nline "quoted" \u001b[31m.txt', 'self', 'socket'],
        ...['stray-\xff\xfd.txt', 'stray-\xff\xfe.txt', 'sub/deep/Makefile', 'sub/deep/up', latin('sub/ünï ☃ 文.json')],
        ...['three.ts', 'to-file', 'to-folder', 'unended.md', 'zeros.bin'],
      ]
        .map((path) => `entry ${path}`)
        .sort(),
    )
  })

  it('begins where it is told to', async () => {
    expect(await found('sub/deep')).toEqual(['entry sub/deep/Makefile', 'entry sub/deep/up'])
  })

  it('fails when its start cannot be listed', async () => {
    await expect(found('gone')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('a look at a file', () => {
  it('counts lines whether or not a newline ends the last', async () => {
    expect(await look('three.ts')).toEqual({
      ...{ kind: 'file', content: 'text', language: 'TypeScript', bytes: 14, lines: 3 },
      sha256: sha256('one\ntwo\nthree\n'),
    })
    expect(await look('unended.md')).toMatchObject({ language: 'Markdown', lines: 2 })
  })

  it('tells empty, binary and special names', async () => {
    expect(await look('empty.py')).toMatchObject({ content: 'empty', language: 'Python', lines: 0, bytes: 0, sha256: sha256('') })
    expect(await look('zeros.bin')).toMatchObject({ content: 'binary', language: 'Binary', lines: 0, bytes: 3 })
    expect(await look('sub/deep/Makefile')).toMatchObject({ language: 'Makefile', lines: 1 })
    expect(await look('sub/ünï ☃ 文.json')).toMatchObject({ language: 'JSON' })
  })

  it('reads names that are not UTF-8 by their bytes', async () => {
    const stray = (last: number): Buffer => Buffer.concat([Buffer.from('stray-'), Buffer.from([0xff, last]), Buffer.from('.txt')])
    expect(await look(stray(0xfe))).toMatchObject({ sha256: sha256('a') })
    expect(await look(stray(0xfd))).toMatchObject({ sha256: sha256('b') })
  })

  it('streams a large file', async () => {
    expect(await look('large.dat')).toMatchObject({ content: 'binary', bytes: LARGE_BYTES, sha256: sha256(Buffer.alloc(LARGE_BYTES)) })
  })

  it('ends when it is aborted', async () => {
    const aborted = inspectEntry(Buffer.from(root), Buffer.from('large.dat'), AbortSignal.abort(new Error('enough')))
    await expect(aborted).rejects.toThrow('enough')
  })

  it('opens nothing but regular files', async () => {
    const reasons = Object.fromEntries(
      await Promise.all(
        ['fifo', 'socket', 'to-file', 'to-folder', 'dangling', 'self', 'sub/deep/up', 'sub'].map(async (path) => [path, await look(path)]),
      ),
    )
    const skipped = (reason: string): Inspection => ({ kind: 'skipped', reason })
    expect(reasons).toEqual({
      fifo: skipped('FIFO'),
      socket: skipped('socket'),
      'to-file': skipped('symbolic link → three.ts'),
      'to-folder': skipped('symbolic link to a folder → sub'),
      dangling: skipped('symbolic link, dangling → nowhere'),
      self: skipped('symbolic link, loop → self'),
      'sub/deep/up': skipped('symbolic link, loops back to a folder above → ../..'),
      sub: skipped('became a folder after the scan'),
    })
  })

  it('says why it failed', async () => {
    await expect(look('gone')).rejects.toMatchObject({ code: 'ENOENT', syscall: 'lstat' })
  })

  it.skipIf(process.getuid?.() === 0)('says that it may not', async () => {
    writeFileSync(join(root, 'secret'), 'x')
    chmodSync(join(root, 'secret'), 0o000)
    await expect(look('secret')).rejects.toMatchObject({ code: 'EACCES' })
  })
})
