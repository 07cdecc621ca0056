/**
 * What files say, read again when they have changed. They are looked at when the value is asked for, so nothing runs
 * and nothing has to be stopped.
 */
import { statSync } from 'node:fs'

export interface FileValueOptions<T> {
  readonly paths: readonly string[]
  /** Reads the files. What it throws at first is the caller's; later the old value stays. */
  readonly read: () => T
  /** Told why the old value stays, once for each state of the files. */
  readonly log: (line: string) => void
  /** How often the files are looked at, at most: ms. */
  readonly everyMs?: number
  /** Ms of a clock that only goes forward. */
  readonly now?: () => number
}

/** Gives the same value until the files are others. Throws what `read` throws. */
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
  let looked = now()
  return () => {
    const at = now()
    if (at - looked < everyMs) return value
    looked = at
    const current = stateOf(paths)
    if (current === state) return value
    try {
      value = read()
      state = current
      log(`${paths.join(', ')}: read again after a change`)
    } catch (error) {
      // It may be half written: it is tried again until it can be read.
      if (failed !== current)
        log(`${paths.join(', ')}: what was read before stays: ${error instanceof Error ? error.message : error}`)
      failed = current
    }
    return value
  }
}

/** Which files these are: others have been put in their place if it differs. */
const stateOf = (paths: readonly string[]): string => paths.map(fileState).join()

function fileState(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}` : 'missing'
}
