/** The log of a container, which the kubelet reads and rotates. */
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LogPosition } from './log-progress.ts'

const nowhere: LogPosition = { inode: 0n, size: 0n }

export class LogFile {
  readonly #path: string
  #file: number | undefined
  #position = nowhere

  /**
   * Creates the file if it is missing. `path` is '' for containers without a log. Removes what is in the file after
   * `known`, which is not finished.
   */
  constructor(path: string, known: LogPosition | undefined) {
    this.#path = path
    this.reopen()
    const { inode, size } = this.#position
    if (this.#file === undefined || known?.inode !== inode || size <= known.size) return
    ftruncateSync(this.#file, Number(known.size))
    this.#position = known
  }

  get position(): LogPosition {
    return this.#position
  }

  append(lines: Buffer): void {
    if (!this.#path || lines.length === 0) return
    this.#file ??= this.#open()
    for (let written = 0; written < lines.length; ) written += writeSync(this.#file, lines, written)
    this.#position = { ...this.#position, size: this.#position.size + BigInt(lines.length) }
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
    const file = openSync(this.#path, 'a', 0o640)
    const { ino: inode, size } = fstatSync(file, { bigint: true })
    this.#position = { inode, size }
    return file
  }
}
