/** Watches a file that another program writes. */
import { readFile, stat } from 'node:fs/promises'

export interface FileWatcher {
  /** Checks for a change now. */
  check(): Promise<void>
  stop(): void
}

/** Interval of checks, in ms. */
const pollMs = 1000

/**
 * Calls `changed` with the text of a file after each change; `known` is the text that the caller has. Calls `lost` once
 * if the file is unreadable in two checks in a row; once may be a replacement. Polls, since mounted configuration
 * changes by links that cannot be watched.
 */
export function watchFile(
  path: string,
  known: string,
  changed: (text: string) => void | Promise<void>,
  lost: (error: unknown) => void = () => {},
): FileWatcher {
  let text = known
  let seen = ''
  let misses = 0
  let stopped = false
  /** Resolves with undefined if nothing has changed since the last read. */
  const read = async (): Promise<string | undefined> => {
    const { mtimeMs, size, ino } = await stat(path)
    const now = `${mtimeMs} ${size} ${ino}`
    const next = now === seen ? undefined : await readFile(path, 'utf8')
    seen = now
    misses = 0
    return next
  }
  const check = async (): Promise<void> => {
    const next = await read().catch((error: unknown) => {
      misses++
      // At the first miss, the file may be being replaced.
      if (misses === 2 && !stopped) lost(error)
      return undefined
    })
    if (next === undefined || next === text || stopped) return
    text = next
    await changed(next)
  }
  let checking = Promise.resolve()
  const scheduleCheck = (): Promise<void> => {
    checking = checking.then(check)
    return checking
  }
  const timer = setInterval(scheduleCheck, pollMs).unref()
  return {
    check: scheduleCheck,
    stop() {
      stopped = true
      clearInterval(timer)
    },
  }
}
