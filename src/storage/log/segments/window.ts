/** Reads files through a window, so that what lies side by side costs one system call. */
import { readSync } from 'node:fs'

export class Window {
  #bytes = Buffer.alloc(0)
  #fd = -1
  #start = 0
  #length = 0

  /**
   * `length` bytes from `position`, fewer where the file ends; `ahead` says how much to read at once. They are good
   * until the next call. What has been read is not read again: for parts of files that do not change.
   */
  view(fd: number, position: number, length: number, ahead: number): Buffer {
    if (fd !== this.#fd || position < this.#start || position + length > this.#start + this.#length)
      this.#fill(fd, position, Math.max(length, ahead))
    const at = position - this.#start
    return this.#bytes.subarray(at, Math.min(at + length, this.#length))
  }

  /** Files may have been closed, and others opened in their place. */
  forget(): void {
    this.#fd = -1
  }

  #fill(fd: number, position: number, length: number): void {
    if (this.#bytes.length < length) this.#bytes = Buffer.allocUnsafeSlow(length)
    this.#fd = fd
    this.#start = position
    this.#length = 0
    while (this.#length < length) {
      const read = readSync(fd, this.#bytes, this.#length, length - this.#length, position + this.#length)
      if (read === 0) break
      this.#length += read
    }
  }
}
