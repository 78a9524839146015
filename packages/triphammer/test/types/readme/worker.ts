import { sqlite } from 'triphammer/sqlite'
import { createWorker, handle } from 'triphammer/worker'
import { sendWelcome } from './tasks.ts'

const worker = createWorker({
  store: sqlite('.triphammer/jobs.db'),
  handlers: [
    handle(sendWelcome, async ({ payload, signal }) => {
      // The signal aborts on timeout, cancel, lost lease and forced shutdown.
      const body = JSON.stringify({ to: payload.to, text: `Welcome, ${payload.name}!` })
      const response = await fetch('https://mail.example.org/send', { method: 'POST', body, signal })
      if (!response.ok) throw new Error(`the mail service answered ${response.status}`) // retried by the task's policy
      return { status: response.status } // kept with the job
    }),
  ],
  queues: { mail: { concurrency: 20 } },
})
await worker.run() // until SIGTERM or SIGINT
