import { TriphammerError } from '../core/errors.ts'
import { checkName } from '../core/text.ts'
import { type AnyTask, defineTask } from '../index.ts'
import { type Handler, type HandlerContext, handle } from '../worker.ts'
import { loadModule } from './load-module.ts'
import { findTaskFiles, type TaskFile } from './task-files.ts'

/** What files and folders hold. */
export interface LoadedTasks {
  /** By name: those that were exported, and those of the handlers. */
  readonly tasks: ReadonlyMap<string, AnyTask>
  /** In the order in which they were found. */
  readonly handlers: readonly Handler[]
  /** The files that were loaded, as absolute paths. */
  readonly files: readonly string[]
}

/** A function that runs a task whose payload has no type of its own. */
type Run = (context: HandlerContext<unknown>) => unknown

/** What one module exports. */
interface Exported {
  readonly tasks: readonly AnyTask[]
  readonly handlers: readonly Handler[]
  /** The default export, if it is a function. */
  readonly run?: Run
}

/**
 * Loads files and folders, and collects the tasks and handlers that their modules export: under any name, by default, in
 * lists, or as the members of a default export.
 *
 * A function as the default export is a handler as well: of the one task that its module exports besides, or else of a task
 * named after the file, `mail/send` for `mail/send.ts` below the folder that was given.
 *
 * @param paths absolute; without any, nothing is loaded
 * @throws TriphammerError `LOAD_FAILED`; `DUPLICATE_TASK`, `DUPLICATE_HANDLER`: two files define the same;
 * `NO_HANDLER`: there is neither a task nor a handler in any of the files
 */
export async function loadTasks(paths: readonly string[]): Promise<LoadedTasks> {
  const { files, skipped } = await findTaskFiles(paths)
  const found = createCollection()
  // One by one: modules that print, or need each other, do so in the same order each time.
  for (const file of files) collect(found, file, await loadModule(file.path))
  if (paths.length > 0 && found.tasks.size === 0) {
    throw new TriphammerError(
      'NO_HANDLER',
      `no task and no handler in ${some(paths)}; looked at ${some(files.map(({ path }) => path))}; passed over ${some(skipped)}; ` +
        'export handle(task, function), or a function as the default export',
    )
  }
  return { tasks: found.tasks, handlers: [...found.handlers.values()], files: files.map(({ path }) => path) }
}

interface Collection {
  readonly tasks: ReadonlyMap<string, AnyTask>
  readonly handlers: ReadonlyMap<string, Handler>
  addTask(task: AnyTask, file: TaskFile): void
  addHandler(handler: Handler, file: TaskFile): void
}

function createCollection(): Collection {
  const tasks = new Map<string, AnyTask>()
  const handlers = new Map<string, Handler>()
  const taskFiles = new Map<string, string>()
  const handlerFiles = new Map<string, string>()
  const addTask = (task: AnyTask, { path }: TaskFile): void => {
    const other = tasks.get(task.name)
    if (other !== undefined && other !== task) {
      throw new TriphammerError(
        'DUPLICATE_TASK',
        `two tasks are named ${task.name}, in ${taskFiles.get(task.name)} and in ${path}; rename one, or define the task once and import it`,
      )
    }
    if (other !== undefined) return
    tasks.set(task.name, task)
    taskFiles.set(task.name, path)
  }
  return {
    tasks,
    handlers,
    addTask,
    addHandler(handler, file) {
      const { name } = handler.task
      addTask(handler.task, file)
      const other = handlers.get(name)
      if (other !== undefined && other.run !== handler.run) {
        throw new TriphammerError(
          'DUPLICATE_HANDLER',
          `task ${name} has two handlers, in ${handlerFiles.get(name)} and in ${file.path}; keep one`,
        )
      }
      if (other !== undefined) return
      handlers.set(name, handler)
      handlerFiles.set(name, file.path)
    },
  }
}

function collect(found: Collection, file: TaskFile, module: unknown): void {
  const { tasks, handlers, run } = exportedBy(module)
  for (const task of tasks) found.addTask(task, file)
  for (const handler of handlers) found.addHandler(handler, file)
  if (run === undefined || handlers.some((handler) => handler.run === run)) return
  const [task = defineTask(checkName(file.name, `the name of the task of ${file.path}`)), second] = tasks
  if (handlers.length > 0 || second !== undefined) {
    throw new TriphammerError(
      'LOAD_FAILED',
      `${file.path}: it cannot be told which task the function is for that is its default export; export handle(task, function) instead`,
    )
  }
  found.addHandler(handle(task, run), file)
}

function exportedBy(module: unknown): Exported {
  const values = exportsOf(module)
  const all = new Set(Object.values(values).flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value])))
  const { default: run } = values
  return { tasks: [...all].filter(isTask), handlers: [...all].filter(isHandler), ...(isPlainFunction(run) ? { run } : {}) }
}

// Of a CommonJS module Node.js gives `module.exports` as the default export, and some of its members by name; the loader of
// TypeScript gives `module.exports` itself. Where that was translated from an ES module, its own default export is meant.
function exportsOf(module: unknown): Readonly<Record<string, unknown>> {
  if (typeof module !== 'object' || module === null) return { default: module }
  const values = { ...module } as Record<string, unknown>
  const { default: inner } = values
  if (typeof inner !== 'object' || inner === null || isTask(inner) || isHandler(inner)) return values
  if (own(inner, '__esModule') === true) return { ...inner }
  const members = Object.entries(Object.getOwnPropertyDescriptors(inner)).map(([name, { value }]) => [`default.${name}`, value as unknown])
  return { ...Object.fromEntries(members), ...values }
}

// By shape and not by origin: the library may be there twice, once for the command line and once for the tasks.
function isTask(value: unknown): value is AnyTask {
  return typeof own(value, 'name') === 'string' && typeof own(value, 'with') === 'function' && typeof own(value, 'policy') === 'object'
}

function isHandler(value: unknown): value is Handler {
  return typeof own(value, 'run') === 'function' && isTask(own(value, 'task'))
}

function isPlainFunction(value: unknown): value is Run {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value))
}

// A module may export anything, such as a connection that opens when it is touched: what is not simply there is left alone.
function own(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined
}

function some(paths: readonly string[]): string {
  if (paths.length === 0) return 'nothing'
  const shown = paths.slice(0, 5).join(', ')
  return paths.length > 5 ? `${shown} and ${paths.length - 5} more` : shown
}
