/** A wait that can be cut short. */
export interface Bell {
  /** Ends the wait, or lets the next one not begin. */
  ring(): void
  /** Resolves when the bell rings, or after `ms` milliseconds. */
  within(ms: number): Promise<void>
}

/** Makes a {@link Bell}. */
export function createBell(): Bell {
  let rung = false
  let wake = (): void => {}
  return {
    ring() {
      rung = true
      wake()
    },
    async within(ms) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      rung = false
    },
  }
}
