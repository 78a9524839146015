import type { Command } from 'commander'
import type { CommandLine } from '../../verb.ts'
import { addJobsEnding, addJobsMoving } from './changes.ts'
import { addJobsCount } from './count.ts'
import { addJobsEnqueue } from './enqueue.ts'
import { addJobsList } from './list.ts'
import { addJobsPurge } from './purge.ts'
import { addJobsShow } from './show.ts'

/** Adds `jobs` with its verbs. */
export function addJobs(program: Command, commandLine: CommandLine): void {
  const jobs = program.command('jobs').description('look at jobs, enqueue them and change them')
  addJobsList(jobs, commandLine)
  addJobsCount(jobs, commandLine)
  addJobsShow(jobs, commandLine)
  addJobsEnqueue(jobs, commandLine)
  addJobsEnding(jobs, commandLine)
  addJobsMoving(jobs, commandLine)
  addJobsPurge(jobs, commandLine)
}
