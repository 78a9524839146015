import type { Command } from 'commander'
import type { Job } from '../../../index.ts'
import { EXIT } from '../../errors.ts'
import { addIds, readIds } from '../../job-target.ts'
import { jobListing } from '../../job-text.ts'
import { addVerb, type CommandLine } from '../../verb.ts'

/** Adds `jobs show`. */
export function addJobsShow(jobs: Command, commandLine: CommandLine): void {
  addVerb(jobs, commandLine, {
    name: 'show',
    summary: 'all there is to say about jobs: payload, error, result, progress',
    examples: ['triphammer jobs show 01890a5d-ac96-774b-bcce-b302099a8057', 'triphammer jobs show --json - < ids.txt'],
    options: (command) => addIds(command, '<id...>'),
    async run({ open, print, world, json }, _flags, args: readonly string[]) {
      const client = open('look')
      const found: Job[] = []
      const missing: string[] = []
      for (const id of await readIds(args, world)) {
        const job = await client.get(id)
        if (job) found.push(job)
        else missing.push(id)
      }
      print({ jobs: found, missing }, () => found.map((job) => `${jobListing(job, world.clock.now())}\n`).join('\n'))
      if (missing.length === 0) return undefined
      if (!json) for (const id of missing) world.err(`There is no job ${id}, or none any more.\n`)
      return EXIT.failed
    },
  })
}
