/** The calls by which the store writes. Tests put disks in their place that are full or fail. */
import { closeSync, constants, fdatasync, fsyncSync, openSync, write } from 'node:fs'

export interface Disk {
  /** Writes all bytes to a file that was opened with `durable`; resolves when they are on the disk. */
  write(fd: number, bytes: Buffer, position: number): Promise<void>
}

/**
 * Whether a write to a file opened with O_DSYNC returns when its bytes are on the disk: one call where write and
 * fdatasync are two.
 */
const writesAreDurable = process.platform === 'linux'
export const durable = constants.O_RDWR | (writesAreDurable ? constants.O_DSYNC : 0)

export const systemDisk: Disk = {
  write: (fd, bytes, position) =>
    new Promise((resolve, reject) => {
      const go = (from: number): void =>
        write(fd, bytes, from, bytes.length - from, position + from, (error, written) => {
          if (error) reject(error)
          // A disk that is nearly full takes a part; the next call says why.
          else if (from + written < bytes.length) go(from + written)
          else if (writesAreDurable) resolve()
          else fdatasync(fd, (failed) => (failed ? reject(failed) : resolve()))
        })
      go(0)
    }),
}

/** Makes the names of a directory's files durable. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
