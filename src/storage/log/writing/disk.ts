/** The disk calls of the store. Tests replace them to simulate a full or failing disk. */
import { closeSync, constants, fdatasync, fsyncSync, openSync, write } from 'node:fs'

export interface Disk {
  /** Writes all bytes to a file opened with `durable`. Resolves when they are on the disk. */
  write(fd: number, bytes: Buffer, position: number): Promise<void>
}

/**
 * True if a write to a file opened with O_DSYNC returns only once its bytes are on the disk: one call instead of write
 * and fdatasync.
 */
const writesAreDurable = process.platform === 'linux'
export const durable = constants.O_RDWR | (writesAreDurable ? constants.O_DSYNC : 0)

export const systemDisk: Disk = {
  write: (fd, bytes, position) =>
    new Promise((resolve, reject) => {
      const go = (from: number): void =>
        write(fd, bytes, from, bytes.length - from, position + from, (error, written) => {
          if (error) reject(error)
          // A nearly full disk writes a part; the next call reports the error.
          else if (from + written < bytes.length) go(from + written)
          else if (writesAreDurable) resolve()
          else fdatasync(fd, (failed) => (failed ? reject(failed) : resolve()))
        })
      go(0)
    }),
}

/** Makes the file names in a directory durable. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
