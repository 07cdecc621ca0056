/** Reads files through a window, so that neighbouring reads cost one system call. */
import { readSync } from 'node:fs'

export class Window {
  #bytes = Buffer.alloc(0)
  #fd = -1
  #start = 0
  #length = 0

  /**
   * Returns `length` bytes from `position`, fewer at the end of the file; `ahead` is the number of bytes to read in one
   * call. The bytes are valid until the next call. Bytes in the window are not read again, so they must not change.
   */
  view(fd: number, position: number, length: number, ahead: number): Buffer {
    if (fd !== this.#fd || position < this.#start || position + length > this.#start + this.#length)
      this.#fill(fd, position, Math.max(length, ahead))
    const at = position - this.#start
    return this.#bytes.subarray(at, Math.min(at + length, this.#length))
  }

  /** Drops the window, since its file may have been closed and its descriptor reused. */
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
