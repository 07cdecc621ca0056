/** Waits for files that another process creates in a folder. */
import { type FSWatcher, watch } from 'node:fs'

/** Notifications can be lost. In ms. */
const defaultPollMs = 1_000

/**
 * Calls `check` now, after each change in a folder and in intervals, until it returns true. Returns a function that
 * stops it.
 */
export function watchFolder(folder: string, check: () => boolean, pollMs = defaultPollMs): () => void {
  let watcher: FSWatcher | undefined
  const stop = (): void => {
    watcher?.close()
    watcher = undefined
    clearInterval(timer)
  }
  const changed = (): void => {
    if (check()) stop()
  }
  const timer = setInterval(changed, pollMs)
  timer.unref()
  watcher = watch(folder, { persistent: false }, changed)
  watcher.on('error', () => {})
  changed()
  return stop
}
