import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new empty folder, its links resolved. */
export function tempFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'triphammer-demo-')))
}

/** A file that is sparse on disk and large to read. */
export const LARGE_BYTES: number = 64 * 1024 * 1024

/** Everything odd that a folder can hold, devices apart: making those takes a superuser. */
export async function growOddTree(root: string): Promise<Server> {
  const at = (...parts: string[]): string => join(root, ...parts)
  for (const folder of ['sub/deep', 'leer', '.git/objects', 'node_modules/x', '.triphammer']) mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('three.ts'), 'one\ntwo\nthree\n')
  writeFileSync(at('unended.md'), 'one\ntwo')
  writeFileSync(at('empty.py'), '')
  writeFileSync(at('zeros.bin'), Buffer.from([1, 0, 2]))
  writeFileSync(at('sub/deep/Makefile'), 'all:\n')
  writeFileSync(at('sub/ünï ☃ 文.json'), '{}')
  writeFileSync(at('new\nline "quoted" \u001b[31m.txt'), 'x')
  writeFileSync(Buffer.concat([Buffer.from(`${root}/stray-`), Buffer.from([0xff, 0xfe]), Buffer.from('.txt')]), 'a')
  writeFileSync(Buffer.concat([Buffer.from(`${root}/stray-`), Buffer.from([0xff, 0xfd]), Buffer.from('.txt')]), 'b')
  for (const hidden of ['.git/objects/1', 'node_modules/x/index.js', '.triphammer/other']) writeFileSync(at(hidden), 'not indexed')
  writeFileSync(at('large.dat'), '')
  truncateSync(at('large.dat'), LARGE_BYTES)

  symlinkSync('three.ts', at('to-file'))
  symlinkSync('sub', at('to-folder'))
  symlinkSync('nowhere', at('dangling'))
  symlinkSync('self', at('self'))
  symlinkSync('../..', at('sub/deep/up'))
  execFileSync('mkfifo', [at('fifo')])
  const socket = createServer()
  await new Promise<void>((resolve) => void socket.listen(at('socket'), resolve))
  return socket
}

/** Many small files: `f0.txt` holds `0` … in folders of a hundred. */
export function growManyFiles(root: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const folder = join(root, `d${Math.floor(i / 100)}`)
    if (i % 100 === 0) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `f${i}.txt`), String(i))
  }
}
