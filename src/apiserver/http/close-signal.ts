/** Tells work for a request that nobody waits for its answer any more. */
import { requestTimeout } from '../../machinery/status-error.ts'

interface Closing {
  readonly destroyed: boolean
  on(event: 'close', listener: () => void): unknown
}

/** Aborted once the answer's stream is closed: it was written, which is so after a time-out too, or the client has gone. */
export function closeSignal(answer: Closing): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(requestTimeout())
  if (answer.destroyed) abort()
  else answer.on('close', abort)
  return controller.signal
}
