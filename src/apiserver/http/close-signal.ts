/** Signals that the response to a request is no longer awaited. */
import { requestTimeout } from '../../machinery/status-error.ts'

interface Closing {
  readonly destroyed: boolean
  on(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/**
 * Calls back once the response's stream is closed, immediately if it is already. The returned function cancels that.
 */
export function onceClosed(answer: Closing, callback: () => void): () => void {
  if (answer.destroyed) callback()
  else answer.on('close', callback)
  return () => void answer.off('close', callback)
}

/**
 * An AbortSignal that is aborted once the response's stream is closed: it was written completely, which includes a
 * time-out response, or the client has disconnected.
 */
export function closeSignal(answer: Closing): AbortSignal {
  const controller = new AbortController()
  onceClosed(answer, () => controller.abort(requestTimeout()))
  return controller.signal
}
