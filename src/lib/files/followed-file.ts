/** Follows a file that somebody else writes: its text, now and whenever it has changed. */
import { readFile, stat } from 'node:fs/promises'

export interface FollowedFile {
  /** Looks at once whether it has changed. */
  look(): Promise<void>
  stop(): void
}

/** How often a file is looked at, in ms. */
const pollMs = 1000

/**
 * Calls back with a file's text each time it has changed since `known`, the text as the caller has it. A file that
 * cannot be read just now (it is being replaced) is looked at again; `lost` is told, once, if it stays so. Polling,
 * because mounted configuration changes by links that cannot be watched.
 */
export function followFile(
  path: string,
  known: string,
  changed: (text: string) => void | Promise<void>,
  lost: (error: unknown) => void = () => {},
): FollowedFile {
  let text = known
  let seen = ''
  let misses = 0
  let stopped = false
  /** Undefined if nothing has changed since it was read last. */
  const read = async (): Promise<string | undefined> => {
    const { mtimeMs, size, ino } = await stat(path)
    const now = `${mtimeMs} ${size} ${ino}`
    const next = now === seen ? undefined : await readFile(path, 'utf8')
    seen = now
    misses = 0
    return next
  }
  const look = async (): Promise<void> => {
    const next = await read().catch((error: unknown) => {
      misses++
      // The first time it may just be being replaced.
      if (misses === 2 && !stopped) lost(error)
      return undefined
    })
    if (next === undefined || next === text || stopped) return
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
