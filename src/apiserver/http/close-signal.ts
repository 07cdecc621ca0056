/** Tells work for a request that nobody waits for its answer any more. */
import { requestTimeout } from '../../machinery/status-error.ts'

interface Closing {
  readonly destroyed: boolean
  on(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** Calls back once the answer's stream is closed, at once if it is. The returned function takes that back. */
export function onceClosed(answer: Closing, callback: () => void): () => void {
  if (answer.destroyed) callback()
  else answer.on('close', callback)
  return () => void answer.off('close', callback)
}

/**
 * Aborted once the answer's stream is closed: it was written, which is so after a time-out too, or the client has gone.
 */
export function closeSignal(answer: Closing): AbortSignal {
  const controller = new AbortController()
  onceClosed(answer, () => controller.abort(requestTimeout()))
  return controller.signal
}
