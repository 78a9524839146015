// A worker in a process of its own, on the built package, that is told to stop in the middle of something: the mode says what.
// It never calls process.exit, so that it ends only when nothing keeps it alive. At last it prints what it has left.
import { createClient, defineTask, TriphammerError } from '../../dist/index.js'
import { sqlite } from '../../dist/sqlite.js'
import { createWorker, handle } from '../../dist/worker.js'

const [file, phase, signals] = process.argv.slice(2)
const say = (line) => console.log(JSON.stringify(line))
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
// Of a handler that may be left behind: it keeps no process alive and is no timer of the worker's.
const work = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref())
const letGo = new Promise((resolve) => process.once('SIGUSR2', resolve))

let told = false
const stopNow = () => {
  if (told) return
  told = true
  say({ told: phase })
  for (let n = 0; n < Number(signals); n++) process.kill(process.pid, n % 2 ? 'SIGINT' : 'SIGTERM')
}

const real = sqlite(file)
let isAway = false
let ran = 0
const hasOutcome = ([first]) => (Array.isArray(first) ? first.length > 0 : (first?.finish?.length ?? 0) > 0)
const isPhase = {
  starting: (verb) => verb === 'beat',
  claiming: (verb) => verb === 'claim',
  finishing: (verb, args) => (verb === 'claim' || verb === 'finish') && hasOutcome(args),
  extending: (verb) => verb === 'extend',
  maintenance: (verb) => verb === 'maintain',
  reclaiming: (verb) => verb === 'reclaim',
}
// Signals arrive while the call is under way, before it reaches the store and after.
const wrap =
  (verb) =>
  async (...args) => {
    const isNow = isPhase[phase]?.(verb, args)
    if (isNow) {
      stopNow()
      await wait(30)
    }
    if (isAway) throw new TriphammerError('STORE_UNAVAILABLE', 'the store is away')
    const answer = await real[verb](...args)
    if (isNow) await wait(30)
    return answer
  }
const verbs = ['enqueue', 'claim', 'extend', 'finish', 'reclaim', 'beat', 'maintain']
const store = { ...real, ...Object.fromEntries(verbs.map((verb) => [verb, wrap(verb)])) }

const jobs = createClient({ store: real, logger: false })
await jobs.migrate()
const task = defineTask('work')
const idle = ['idle', 'starting', 'maintenance', 'reclaiming'].includes(phase)
if (!idle) await jobs.enqueueMany(task, Array.from({ length: 30 }))

const run = async ({ signal, commit }) => {
  ran++
  if (phase === 'running' || phase === 'held') {
    stopNow()
    await work(200)
  } else if (phase === 'deaf') {
    stopNow()
    await new Promise(() => {})
  } else if (phase === 'obedient') {
    stopNow()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw signal.reason
  } else if (phase === 'committing') {
    await commit(async () => {
      stopNow()
      await work(300)
    })
  } else if (phase === 'outage') {
    isAway = true
    stopNow()
    setTimeout(() => {
      isAway = false
    }, 1_500).unref()
  } else if (phase === 'locked') {
    say({ lock: true })
    await letGo
    stopNow()
  } else if (phase === 'extending') {
    await work(600)
  }
}
const worker = createWorker({
  store,
  handlers: [handle(task, run)],
  queues: { default: { concurrency: 2, prefetch: phase === 'held' ? 30 : 10 } },
  lease: phase === 'extending' ? '1s' : '60s',
  grace: phase === 'deaf' || phase === 'obedient' ? '300ms' : '20s',
  logger: false,
})
if (phase === 'idle') worker.on('worker.started', () => setTimeout(stopNow, 100))
if (phase === 'at once') {
  const running = worker.run()
  stopNow()
  await running
} else if (phase === 'once') {
  const once = worker.runOnce()
  await Promise.all([worker.stop(), worker.stop(), once])
} else {
  await worker.run()
}
const resources = process.getActiveResourcesInfo().filter((name) => /Timeout|FS|Stat/.test(name)) // timers and watches
say({ states: await jobs.countBy('state'), ran, workers: (await jobs.workers()).length, resources })
await jobs.close()
