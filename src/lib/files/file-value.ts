/**
 * A value from files, which are read again after changes. Changes are checked on access, so nothing must be stopped.
 */
import { statSync } from 'node:fs'

export interface FileValueOptions<T> {
  readonly paths: readonly string[]
  /** Reads the files. The first error is thrown; after later errors the old value is used. */
  readonly read: () => T
  /** Logs why the old value is used, once per state of the files. */
  readonly log: (line: string) => void
  /** Minimum interval of checks, in ms. */
  readonly everyMs?: number
  /** A monotonic clock, in ms. */
  readonly now?: () => number
}

/** Returns a function that returns the current value. Throws if the first `read` throws. */
export function fileValue<T>({
  paths,
  read,
  log,
  everyMs = 1000,
  now = () => performance.now(),
}: FileValueOptions<T>): () => T {
  let state = stateOf(paths)
  let failed = ''
  let value = read()
  let checkedAt = now()
  return () => {
    const at = now()
    if (at - checkedAt < everyMs) return value
    checkedAt = at
    const current = stateOf(paths)
    if (current === state) return value
    try {
      value = read()
      state = current
      log(`${paths.join(', ')}: reloaded after a change`)
    } catch (error) {
      // It may be incomplete: read it again at the next check.
      if (failed !== current)
        log(`${paths.join(', ')}: using the previous content: ${error instanceof Error ? error.message : error}`)
      failed = current
    }
    return value
  }
}

/** Identifies the versions of the files. */
const stateOf = (paths: readonly string[]): string => paths.map(fileState).join()

function fileState(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}` : 'missing'
}
