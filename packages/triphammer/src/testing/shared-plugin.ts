import type { Plugin, PluginContext, Store } from '../index.ts'

/** A plugin whose hooks are given to more than one worker of a kit: it is set up once, so what it keeps it keeps. */
export interface SharedPlugin {
  /** All its hooks: for a worker that goes on. */
  readonly whole: Plugin
  /**
   * Without gates and services: for running single jobs. A gate may want time to pass, which nobody would let pass, and a
   * service has a life of its own.
   */
  readonly hooksOnly: Plugin
}

type Registration = (context: PluginContext) => void

/** Makes a {@link SharedPlugin}. @param store what the plugin is shown, whichever worker is made first */
export function sharePlugin(plugin: Plugin, store: Store): SharedPlugin {
  if (typeof plugin?.setup !== 'function') return { whole: plugin, hooksOnly: plugin } // whoever gets it says what is wrong with it
  const hooks: Registration[] = []
  const rest: Registration[] = []
  let isSetUp = false
  const setUpOnce = (context: PluginContext): void => {
    if (isSetUp) return
    isSetUp = true
    plugin.setup({
      ...context,
      store,
      enqueue: (middleware) => void hooks.push((to) => to.enqueue(middleware)),
      run: (middleware) => void hooks.push((to) => to.run(middleware)),
      on: (type, observer) => void hooks.push((to) => to.on(type, observer)),
      followUp: (followUp) => void hooks.push((to) => to.followUp(followUp)),
      gate: (gate) => void rest.push((to) => to.gate(gate)),
      service: (service) => void rest.push((to) => to.service(service)),
    })
  }
  const registering = (registrations: readonly Registration[]) => (context: PluginContext) => {
    setUpOnce(context)
    for (const register of registrations) register(context)
  }
  const all = registering(hooks)
  return {
    hooksOnly: { name: plugin.name, setup: all },
    whole: {
      name: plugin.name,
      setup(context) {
        all(context)
        for (const register of rest) register(context)
      },
    },
  }
}
