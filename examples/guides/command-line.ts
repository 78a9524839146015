import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// What `npm install triphammer` does.
const installed = dirname(fileURLToPath(import.meta.resolve('triphammer/package.json')))
mkdirSync('node_modules')
symlinkSync(installed, 'node_modules/triphammer')

const configuration = `
import { defineConfig } from 'triphammer/config'

export default defineConfig({
  store: 'sqlite:app.db',
  tasks: './tasks',
  worker: { queues: { mail: 20 }, grace: '1m' },
})
`
const welcome = `
import { defineTask } from 'triphammer'
import type { HandlerContext } from 'triphammer/worker'

interface Welcome {
  readonly to: string
}

export const sendWelcome = defineTask<Welcome>('send_welcome', { queue: 'mail', maxAttempts: 3 })

export default async ({ payload }: HandlerContext<Welcome>) => {
  console.log('a letter to', payload.to)
  return { sent: true }
}
`
writeFileSync('triphammer.config.ts', configuration)
mkdirSync('tasks')
writeFileSync('tasks/welcome.ts', welcome)

// What a shell does with `npx triphammer`, and any program with its JSON.
function triphammer(...argv: string[]): { readonly code: number | null; readonly out: string } {
  const { status, stdout } = spawnSync(process.execPath, [join(installed, 'dist/cli/main.js'), ...argv], { encoding: 'utf8' })
  return { code: status, out: stdout }
}

const enqueued = triphammer('jobs', 'enqueue', 'send_welcome', '{"to":"ada@example.org"}', '--json')
const { id } = JSON.parse(enqueued.out) as { readonly id: string }
console.log(JSON.parse(triphammer('jobs', 'count', '--queue', 'mail', '--json').out))

// With --json `work` writes an object a line; what handlers print stands between them.
for (const line of triphammer('work', '--once', '--json').out.trim().split('\n')) {
  console.log(line.startsWith('{') ? (JSON.parse(line) as { event: string }).event : line)
}

const { jobs } = JSON.parse(triphammer('jobs', 'show', id, '--json').out) as { jobs: { state: string; result: unknown }[] }
console.log(jobs[0]?.state, jobs[0]?.result)

// Exit codes: nothing of that kind, and a command line that is wrong.
console.log(triphammer('jobs', 'show', '01890a5d-ac96-774b-bcce-b302099a8057').code, triphammer('jobs', 'list', '--limt', '5').code)
