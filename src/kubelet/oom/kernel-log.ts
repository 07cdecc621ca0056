/** Reads the log of the kernel, `/dev/kmsg`, from now on. */
import { closeSync, constants, openSync, readSync } from 'node:fs'

/** The kernel refuses a read into a smaller buffer than its longest record. */
const recordBytes = 8192

export class KernelLog {
  readonly #file: number
  readonly #buffer = Buffer.alloc(recordBytes)

  /** Throws the errors of the file system. */
  constructor(path = '/dev/kmsg') {
    this.#file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    // Older records have been reported, or are not of this run.
    while (this.#read() !== undefined);
  }

  /** The messages since the last call. */
  messages(): string[] {
    const messages: string[] = []
    for (let record = this.#read(); record !== undefined; record = this.#read()) {
      const start = record.indexOf(';')
      // `PRIORITY,NUMBER,TIME,FLAGS;MESSAGE`, and lines with fields after the first.
      if (start >= 0) messages.push(record.slice(start + 1).split('\n', 1)[0]!)
    }
    return messages
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Undefined at the end of the log; '' for records that the kernel has overwritten meanwhile. */
  #read(): string | undefined {
    try {
      const bytes = readSync(this.#file, this.#buffer)
      return bytes === 0 ? undefined : this.#buffer.toString('utf8', 0, bytes)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN') return undefined
      if (code === 'EPIPE') return ''
      throw error
    }
  }
}
