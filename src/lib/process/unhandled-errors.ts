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

/** Errors since the start that no code handled, those of the threads of this process included. */
export const unhandledErrors = (): number => count

/** For errors of another thread, which has logged them. */
export function countUnhandledError(): void {
  count++
}

/**
 * Logs, with their stacks, rejections and exceptions that no code handles, counts them, and lets the process go on: one
 * client's request must not end the server for all others. For programs that serve, once they have started; never in a
 * library, whose user's own errors would be hidden. A store that cannot write refuses further writes by itself; a
 * FatalError ends the process. Returns what undoes it.
 * @example const undo = surviveErrors((line) => process.stderr.write(`${line}\n`))
 */
export function surviveErrors(log: Log): () => void {
  const handle = (kind: string) => (error: unknown) => {
    if (error instanceof FatalError) {
      log(`the process ends: ${stackOf(error)}`, 'error')
      process.exit(1)
    }
    countUnhandledError()
    log(`${kind}, the server goes on: ${stackOf(error)}`, 'error')
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

/** With the stacks of its causes. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const stack = error.stack ?? error.message
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`
}
