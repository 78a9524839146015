import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { refused } from '../../conformance/client.ts'
import { loadSettings } from '../../src/cli/settings.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'triphammer-cli-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
const load = (env: Record<string, string> = {}, flags: { store?: string; config?: string } = {}) => loadSettings({ cwd, env }, flags)

describe('the settings of the command line', () => {
  it('without a configuration are the defaults', async () => {
    expect(await load()).toEqual({ folder: cwd, tasks: [], processes: 1, plugins: [], worker: {} })
  })

  it.each([
    ['triphammer.config.ts', "enum Many { two = 2 }\nexport default { store: 'a.db', processes: Many.two as number }"],
    ['triphammer.config.mts', "const store: string = 'a.db'\nexport default { store, processes: 2 }"],
    ['triphammer.config.js', "export default { store: 'a.db', processes: 2 }"],
    ['triphammer.config.mjs', "export default { store: 'a.db', processes: 2 }"],
    ['triphammer.config.json', '{ "store": "a.db", "processes": 2 }'],
  ])('come from %s', async (name, text) => {
    write(name, text)
    expect(await load()).toMatchObject({ configFile: join(cwd, name), store: 'a.db', processes: 2 })
  })

  it('are overlaid by the environment, and that by options', async () => {
    write('triphammer.config.json', '{ "store": "a.db", "tasks": "tasks", "processes": 2, "worker": { "lease": "1m", "grace": "5s" } }')
    expect(await load()).toMatchObject({ store: 'a.db', tasks: [join(cwd, 'tasks')], worker: { lease: '1m', grace: '5s' } })
    const env = { TRIPHAMMER_STORE: 'b.db', TRIPHAMMER_PROCESSES: '3', TRIPHAMMER_LEASE: '9s', TRIPHAMMER_TASKS: 'x, y' }
    expect(await load(env)).toMatchObject({
      store: 'b.db',
      processes: 3,
      tasks: [join(cwd, 'x'), join(cwd, 'y')],
      worker: { lease: '9s', grace: '5s' },
    })
    expect(await load(env, { store: 'c.db' })).toMatchObject({ store: 'c.db', processes: 3 })
  })

  it('take queues, numbers and durations from the environment', async () => {
    const env = {
      TRIPHAMMER_QUEUES: 'mail=20,a=b=3,rest',
      TRIPHAMMER_MAX_ATTEMPTS: '4',
      TRIPHAMMER_PAYLOAD_LIMIT: '100',
      TRIPHAMMER_POLL: '2s',
      TRIPHAMMER_PULSE: '3s',
      TRIPHAMMER_GRACE: '4s',
      TRIPHAMMER_TIMEOUT: '5s',
    }
    expect(await load(env)).toMatchObject({
      payloadLimit: 100,
      worker: {
        queues: { mail: { concurrency: 20 }, 'a=b': { concurrency: 3 }, rest: {} },
        ...{ maxAttempts: 4, poll: '2s', pulse: '3s', grace: '4s', timeout: '5s' },
      },
    })
  })

  it('read the configuration that an option or a variable names, and its paths from its own folder', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'triphammer-cli-'))
    try {
      writeFileSync(join(elsewhere, 'mine.json'), '{ "store": "a.db", "tasks": ["t"] }')
      const expected = { store: 'a.db', folder: elsewhere, tasks: [join(elsewhere, 't')] }
      expect(await load({}, { config: join(elsewhere, 'mine.json') })).toMatchObject(expected)
      expect(await load({ TRIPHAMMER_CONFIG: join(elsewhere, 'mine.json') })).toMatchObject(expected)
      // A path that was given here is relative to here.
      expect(await load({ TRIPHAMMER_STORE: 'b.db' }, { config: join(elsewhere, 'mine.json') })).toMatchObject({ folder: cwd })
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })

  it('refuse what means nothing', async () => {
    await refused(() => load({ TRIPHAMMER_STOER: 'a.db' }), 'UNKNOWN_OPTION', /TRIPHAMMER_STOER.*TRIPHAMMER_STORE/)
    await refused(() => load({ TRIPHAMMER_constructor: '1' }), 'UNKNOWN_OPTION', /TRIPHAMMER_constructor/)
    await refused(() => load({ TRIPHAMMER_PROCESSES: 'two' }), 'INVALID_OPTION', /TRIPHAMMER_PROCESSES: "two"/)
    await refused(() => load({ TRIPHAMMER_PROCESSES: '0' }), 'INVALID_OPTION', /processes: 0/)
    await refused(() => load({ TRIPHAMMER_QUEUES: 'mail=many' }), 'INVALID_OPTION', /concurrency of mail/)
    await refused(() => load({}, { config: 'none.ts' }), 'LOAD_FAILED', /no configuration.*none[.]ts/)
    for (const [text, words] of [
      ['{ "stor": "a.db" }', /unknown option "stor"/],
      ['{ "worker": { "leases": "1m" } }', /worker: unknown option "leases"/],
      ['{ "queues": { "mail": 5 } }', /queues is an option of the worker; write worker: [{] queues: … [}]/],
    ] as const) {
      write('triphammer.config.json', text)
      await refused(() => load(), 'UNKNOWN_OPTION', words)
    }
    for (const [text, words] of [
      ['[]', /must be an object/],
      ['null', /must be an object/],
      ['{ "store": 7 }', /store is neither/],
      ['{ "tasks": [""] }', /tasks: "" is not/],
      ['{ "plugins": {} }', /plugins is not a list/],
      ['{ "payloadLimit": -1 }', /payloadLimit: -1/],
    ] as const) {
      write('triphammer.config.json', text)
      await refused(() => load(), 'INVALID_OPTION', words)
    }
  })

  it('refuse two configurations, one that cannot be loaded and one that exports nothing', async () => {
    write('triphammer.config.json', '{')
    await refused(() => load(), 'LOAD_FAILED', /triphammer[.]config[.]json cannot be loaded/)
    write('triphammer.config.ts', 'export const store = 1')
    await refused(() => load(), 'INVALID_OPTION', /several configurations/)
    rmSync(join(cwd, 'triphammer.config.json'))
    await refused(() => load(), 'INVALID_OPTION', /no default export/)
  })
})
