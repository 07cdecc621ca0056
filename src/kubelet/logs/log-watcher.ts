/** Notices writes to a log file and its rotation, by notifications of its folder. */
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { messageOf } from '../../lib/message-of.ts'

export class LogWatcher {
  readonly #watcher: FSWatcher | undefined
  #hasChanged = false
  #notify = (): void => {}

  /** Without notifications, as when the kernel's limit is reached, only the polls of `changed` remain. */
  constructor(path: string, log: (line: string) => void) {
    const name = basename(path)
    const fail = (error: unknown): void => log(`cannot watch the log ${path}, polling it: ${messageOf(error)}`)
    try {
      this.#watcher = watch(dirname(path), { persistent: false }, (_event, changed) => {
        if (changed !== null && changed !== name) return
        this.#hasChanged = true
        this.#notify()
      })
      this.#watcher.on('error', fail)
    } catch (error) {
      fail(error)
    }
  }

  /** Resolves after a change since the last call, after `ms`, or when `signal` is aborted. */
  async changed(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#hasChanged && !signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => done(), ms)
        const done = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          this.#notify = () => {}
          resolve()
        }
        signal.addEventListener('abort', done)
        this.#notify = done
      })
    this.#hasChanged = false
  }

  close(): void {
    this.#watcher?.close()
  }
}
