import { type Client, defineTask, fixed, type Task } from 'triphammer'
import { type Handler, handle } from 'triphammer/worker'

/** Who signs up. */
export interface User {
  readonly email: string
  readonly name: string
}

interface Welcome {
  readonly to: string
  readonly name: string
}

interface Question {
  readonly to: string
}

/** Greets a new user. */
export const sendWelcome: Task<Welcome, Welcome> = defineTask<Welcome>('send_welcome', {
  queue: 'mail',
  maxAttempts: 3,
  retry: fixed('1m'),
  timeout: '30s',
})

/** Asks a user, after a while, whether all is well. */
export const askBack: Task<Question, Question> = defineTask<Question>('ask_back', { queue: 'mail' })

/** The code under test: it is given its client, so that a test can give it another. */
export async function signUp(user: User, jobs: Client): Promise<void> {
  if (!user.email.includes('@')) throw new Error(`${user.email} is no address`)
  await jobs.transaction(async (tx) => {
    await jobs.in(tx).enqueue(sendWelcome, { to: user.email, name: user.name })
  })
}

/** Sends a mail, or throws. */
export type Send = (to: string, text: string, signal: AbortSignal) => Promise<void>

/** Makes the handlers, with whatever sends mail. */
export function createHandlers(send: Send): readonly Handler[] {
  return [
    handle(sendWelcome, async ({ payload, signal, enqueue }) => {
      await send(payload.to, `Welcome, ${payload.name}!`, signal)
      await enqueue(askBack, { to: payload.to }, { delay: '3d' })
    }),
    handle(askBack, ({ payload, signal }) => send(payload.to, 'Is all well?', signal)),
  ]
}
