/** Keeps a serving process alive when an error reaches the event loop, as panic recovery does for a request. */
import type { Log } from '../log/log.ts'

let count = 0

/** An error after which the process must not go on, such as a store whose memory may differ from its disk. */
export class FatalError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'FatalError'
  }
}

/** The number of unhandled errors since the start, including those of other threads. */
export const unhandledErrors = (): number => count

/** Counts an error of another thread, which has logged it. */
export function countUnhandledError(): void {
  count++
}

/**
 * Logs unhandled rejections and exceptions with their stacks, counts them, and lets the process continue: one client's
 * request must not end the server for all others. For programs that serve, once they have started; never in a
 * library, whose user's own errors would be hidden. A store that cannot write refuses further writes by itself; a
 * FatalError ends the process. Returns a function that undoes it.
 * @example const undo = surviveErrors((line) => process.stderr.write(`${line}\n`))
 */
export function surviveErrors(log: Log): () => void {
  const handle = (kind: string) => (error: unknown) => {
    if (error instanceof FatalError) {
      log(`the process ends: ${stackOf(error)}`, 'error')
      process.exit(1)
    }
    countUnhandledError()
    log(`${kind}, the server continues: ${stackOf(error)}`, 'error')
  }
  const onException = handle('unhandled exception')
  const onRejection = handle('unhandled rejection')
  process.on('uncaughtException', onException)
  process.on('unhandledRejection', onRejection)
  return () => {
    process.off('uncaughtException', onException)
    process.off('unhandledRejection', onRejection)
  }
}

/** The stack, with the stacks of its causes. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const stack = error.stack ?? error.message
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`
}
