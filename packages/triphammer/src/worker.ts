/**
 * Running jobs: handlers and the worker that calls them.
 *
 * @module
 */

export { type CommitTx, type HandledJob, type Handler, type HandlerContext, handle } from './worker/handler.ts'
export type { QueueOptions, WorkerOptions } from './worker/options.ts'
export { createWorker, type Worker, type WorkerStats } from './worker/worker.ts'
