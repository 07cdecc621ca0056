/** Shuts a program down on SIGINT and SIGTERM. */
import { constants } from 'node:os'

/**
 * Returns a signal that the first SIGINT or SIGTERM aborts; the second ends the process immediately with exit code 130
 * or 143. As controller-runtime's `SetupSignalHandler`.
 * @example stopSignals().addEventListener('abort', () => void running.stop())
 */
export function stopSignals(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(128 + constants.signals[signal])
      controller.abort(new Error(`received ${signal}`))
    })
  }
  return controller.signal
}
