/** Follows a file that somebody else writes: its text, now and whenever it has changed. */
import { readFile, stat } from 'node:fs/promises'

export interface FollowedFile {
  /** Looks at once whether it has changed. */
  look(): Promise<void>
  stop(): void
}

/** How often a file is looked at, in ms. */
const usualPollMs = 1000

/**
 * Calls back with a file's text each time it has changed since `known`, the text as the caller has it. A file that cannot be read just
 * now (it is being replaced) is looked at again; polling, because mounted configuration changes by links that cannot be watched.
 */
export function followFile(path: string, known: string, changed: (text: string) => void | Promise<void>, pollMs = usualPollMs): FollowedFile {
  let text = known
  let seen = ''
  let stopped = false
  const look = async (): Promise<void> => {
    const now = await stat(path).then(
      ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
      () => seen,
    )
    if (now === seen || stopped) return
    const next = await readFile(path, 'utf8').catch(() => undefined)
    if (next === undefined || stopped) return
    seen = now
    if (next === text) return
    text = next
    await changed(next)
  }
  let looking = Promise.resolve()
  const again = (): Promise<void> => {
    looking = looking.then(look)
    return looking
  }
  const timer = setInterval(again, pollMs).unref()
  return {
    look: again,
    stop() {
      stopped = true
      clearInterval(timer)
    },
  }
}
