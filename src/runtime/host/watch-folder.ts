/** Waits for files that another process creates in a folder. */
import { type FSWatcher, watch } from 'node:fs'

/** Notifications can be lost; in ms. */
const pollMs = 1_000

/**
 * Calls `check` now and after each change in a folder, until it returns true. Returns a function that stops it.
 */
export function watchFolder(folder: string, check: () => boolean): () => void {
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
