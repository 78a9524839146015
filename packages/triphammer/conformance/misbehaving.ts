import { expect } from 'vitest'
import type { Plugin, PluginContext } from '../src/extend/plugin.ts'
import type { Bench } from './worker.ts'

/** What every hook here fails with. */
export const broken: Error = new Error('the hook is broken')

/** A hook that throws. */
export const throwing = (): never => {
  throw broken
}

/** A hook that rejects. */
export const rejecting = async (): Promise<never> => throwing()

/** A hook that never settles. */
export const hanging = (): Promise<never> => new Promise(() => {})

/** A plugin of hooks that misbehave. */
export const plugin = (setup: (context: PluginContext) => void): Plugin => ({ name: 'bad', setup })

/** The failure of the hook has been logged, with these words. */
export function expectLogged(bench: Bench, words: string): void {
  const line = { level: 'error', message: expect.stringContaining(words), fields: expect.objectContaining({ error: broken }) }
  expect(bench.logged).toContainEqual(expect.objectContaining(line))
}
