/** Ends a program in order when it is asked to. */
import { constants } from 'node:os'

/**
 * Aborted by the first SIGINT or SIGTERM; the second one ends the process at once, with the shell's code for it (130,
 * 143). As controller-runtime's `SetupSignalHandler`.
 * @example stopSignals().addEventListener('abort', () => void running.stop())
 */
export function stopSignals(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(128 + constants.signals[signal])
      controller.abort(new Error(`asked to stop by ${signal}`))
    })
  }
  return controller.signal
}
