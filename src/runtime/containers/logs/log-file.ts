/** The log of a container, which the kubelet reads and rotates. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

export class LogFile {
  readonly #path: string
  #file: number | undefined

  /** Creates the file if it is missing. `path` is '' for containers without a log. */
  constructor(path: string) {
    this.#path = path
    this.reopen()
  }

  append(lines: Buffer): void {
    if (!this.#path || lines.length === 0) return
    this.#file ??= this.#open()
    for (let written = 0; written < lines.length; ) written += writeSync(this.#file, lines, written)
  }

  /** Creates the file again after the kubelet has renamed it. */
  reopen(): void {
    if (!this.#path) return
    this.close()
    this.#file = this.#open()
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #open(): number {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o755 })
    return openSync(this.#path, 'a', 0o640)
  }
}
