/** Keeps a serving process alive when an error reaches the event loop, as panic recovery does for a request. */

let count = 0

/** Errors since the start that no code handled. */
export const unhandledErrors = (): number => count

/**
 * Logs, with their stacks, rejections and exceptions that no code handles, counts them, and lets the process go on: one
 * client's request must not end the server for all others. For programs that serve, once they have started; never in a
 * library, whose user's own errors would be hidden. A store that cannot write refuses further writes by itself.
 * Returns what undoes it.
 * @example const undo = surviveErrors((line) => process.stderr.write(`${line}\n`))
 */
export function surviveErrors(log: (line: string) => void): () => void {
  const handle = (kind: string) => (error: unknown) => {
    count++
    log(`${kind}, the server goes on: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
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
