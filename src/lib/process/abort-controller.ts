/**
 * AbortController and AbortSignal.any for the bundle, which puts them in place of the global ones: Node 22 warns of a
 * leak when a signal has more than ten listeners, as the signal that stops a server has. Later versions have no such
 * limit for signals.
 */
import { getMaxListeners, setMaxListeners } from 'node:events'

const { AbortController: GlobalAbortController, AbortSignal: GlobalAbortSignal } = globalThis

class UnlimitedAbortController extends GlobalAbortController {
  constructor() {
    super()
    setMaxListeners(0, this.signal)
  }
}

const isLimited = getMaxListeners(new GlobalAbortController().signal) > 0
export const AbortController = isLimited ? UnlimitedAbortController : GlobalAbortController

/** `AbortSignal.any` without that limit. */
export function anyAbortSignal(signals: AbortSignal[]): AbortSignal {
  const any = GlobalAbortSignal.any(signals)
  if (isLimited) setMaxListeners(0, any)
  return any
}
