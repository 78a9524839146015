import { isPromise } from 'node:util/types'

/**
 * Some hooks are asked for an answer at once. One that is an asynchronous function has promised something instead, and
 * nobody waits for that: `told` hears why it failed, so that its rejection does not end the process.
 */
export function hearRejection(returned: unknown, told: (error: unknown) => void): void {
  if (isPromise(returned)) returned.catch(told)
}
