/** Ctrl-C and its relatives: the first asks to stop, the second stops at once. */
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Listens from now on. `requested` resolves to the first signal; a second one ends the process with the shell's code
 * for it.
 */
export function stopSignal(): { readonly requested: Promise<string> } {
  const { promise, resolve } = Promise.withResolvers<string>()
  let asked = false
  for (const signal of signals) {
    process.on(signal, () => {
      if (asked) process.exit(128 + constants.signals[signal])
      asked = true
      resolve(signal)
    })
  }
  return { requested: promise }
}
