import { defineTask, exponential } from 'triphammer'
import { z } from 'zod' // any Standard Schema library will do

export const sendWelcome = defineTask('send_welcome', {
  input: z.object({ to: z.string(), name: z.string() }), // checked at enqueue, and again before the handler runs
  queue: 'mail',
  maxAttempts: 10, // attempts, not retries
  retry: exponential({ base: '2s', max: '10m', jitter: 0.2 }),
  timeout: '30s', // per attempt
})
