import { createClient } from 'triphammer'
import { sendWelcome } from './tasks.ts'

const jobs = createClient() // the SQLite file ./.triphammer/jobs.db
const { id, status } = await jobs.enqueue(sendWelcome, { to: 'ada@example.org', name: 'Ada' })
await jobs.enqueue(sendWelcome, { to: 'bob@example.org', name: 'Bob' }, { delay: '5m', priority: 'high' })
console.log(id, status) // status: inserted | duplicate
await jobs.close()
