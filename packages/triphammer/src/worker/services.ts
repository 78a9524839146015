import { type Clock, sleep } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Service } from '../extend/plugin.ts'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

/** Runs a service until the signal is aborted; when it fails or ends by itself it is started again, with backoff. */
export async function supervise(
  service: Service,
  options: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const { clock, log, signal } = options
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await service.run(signal)
      if (signal.aborted) return
      log.warn({ service: service.name }, 'a service ended by itself; it is started again')
    } catch (error) {
      log.error({ service: service.name, error }, 'a service failed; it is started again')
    }
    await sleep(clock, Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 10), LONGEST_WAIT_MS), signal)
  }
}
