/** SIGINT, SIGTERM and SIGHUP: the first requests a graceful stop, the second ends the process immediately. */
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Starts to listen. `requested` resolves with the name of the first signal; a second one ends the process with exit
 * code 128 + signal number.
 */
export function stopSignal(): { readonly requested: Promise<string> } {
  const { promise, resolve } = Promise.withResolvers<string>()
  let isRequested = false
  for (const signal of signals) {
    process.on(signal, () => {
      if (isRequested) process.exit(128 + constants.signals[signal])
      isRequested = true
      resolve(signal)
    })
  }
  return { requested: promise }
}
