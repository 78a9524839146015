import type { ChildProcess } from 'node:child_process'

// Between a process and those of the same command line that it has started: a variable that says to a child which it is, and
// two words. None of it is for users.
const VARIABLE = 'TRIPHAMMER_CHILD'
const STOP = 'triphammer: stop'
const UP = 'triphammer: up'

/** The environment of a child. */
export function childEnvironment(number: number): Readonly<Record<string, string>> {
  return { [VARIABLE]: String(number) }
}

/** The number of a child, or `undefined` where this process is none. Whatever it starts itself shall not take itself for one. */
export function takeChildNumber(process: Pick<NodeJS.Process, 'env' | 'send'>): number | undefined {
  const text = process.env[VARIABLE]
  if (text === undefined || process.send === undefined) return undefined
  delete process.env[VARIABLE]
  return Number(text)
}

/** Tells a child that an end is wanted; said again, it hurries. One that is gone needs no word. */
export function tellStop(child: Pick<ChildProcess, 'connected' | 'send'>): void {
  if (child.connected) child.send(STOP, () => {})
}

/** Whether a message from the parent means that an end is wanted. */
export function meansStop(message: unknown): boolean {
  return message === STOP
}

/** Tells the parent that this child is at work. */
export function tellUp(process: Pick<NodeJS.Process, 'connected' | 'send'>): void {
  if (process.connected) process.send?.(UP, undefined, undefined, () => {})
}

/** Whether a message from a child means that it is at work. */
export function meansUp(message: unknown): boolean {
  return message === UP
}
