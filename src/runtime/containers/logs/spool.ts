/**
 * Output of a container that is not in its log yet, as a file: what the runtime has read must not be lost if it is
 * killed. The file is replaced by one of the next generation when most of it is in the log.
 */
import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { loadLibc } from '../../host/libc.ts'

/** The position up to which the output is in the log. */
export interface SpoolPosition {
  readonly generation: number
  /** In bytes. */
  readonly logged: number
}

/** The bytes in the log after which the file is replaced. */
const maxLoggedBytes = 64 * 1024
const maxReadBytes = 64 * 1024

export class Spool {
  readonly #folder: string
  readonly #stream: string
  #file: number
  #generation: number
  #size: number
  #read: number
  #logged: number

  /** Opens the spool of a stream in the folder of its container, or creates it. Reading begins at `position`. */
  constructor(folder: string, stream: string, { generation, logged }: SpoolPosition) {
    this.#folder = folder
    this.#stream = stream
    this.#generation = generation
    this.#file = this.#open(constants.O_CREAT)
    this.#size = fstatSync(this.#file).size
    this.#logged = Math.min(logged, this.#size)
    this.#read = this.#logged
  }

  get position(): SpoolPosition {
    return { generation: this.#generation, logged: this.#logged }
  }

  /** Moves output from a FIFO to the spool in one step, so that a kill neither loses nor doubles it. */
  fill(fifo: number): number {
    if (loadLibc().pendingBytes(fifo) === 0) return 0
    const moved = loadLibc().moveBytes(fifo, this.#file, this.#size)
    this.#size += moved
    return moved
  }

  write(data: Buffer): void {
    for (let written = 0; written < data.length; )
      written += writeSync(this.#file, data, written, data.length - written, this.#size + written)
    this.#size += data.length
  }

  /** The next bytes; empty if all were read. */
  next(): Buffer {
    const bytes = Buffer.allocUnsafe(Math.min(this.#size - this.#read, maxReadBytes))
    if (bytes.length === 0) return bytes
    const length = readSync(this.#file, bytes, 0, bytes.length, this.#read)
    this.#read += length
    return bytes.subarray(0, length)
  }

  /** All bytes that were read are in the log, except the last `pending` ones. */
  markLogged(pending: number): void {
    this.#logged = this.#read - pending
  }

  /**
   * Begins the next generation if most of this one is in the log. Calls `save` when its file is complete: after that
   * the position is valid, and the file before is removed.
   */
  rotate(save: () => void): void {
    if (this.#logged < maxLoggedBytes) return
    const rest = Buffer.allocUnsafe(this.#size - this.#logged)
    readSync(this.#file, rest, 0, rest.length, this.#logged)
    const before = this.#path()
    closeSync(this.#file)
    this.#generation++
    this.#file = this.#open(constants.O_CREAT | constants.O_TRUNC)
    this.#read -= this.#logged
    this.#logged = 0
    this.#size = 0
    this.write(rest)
    save()
    rmSync(before)
  }

  close(): void {
    closeSync(this.#file)
  }

  #path(): string {
    return join(this.#folder, `${this.#stream}.${this.#generation}`)
  }

  #open(flags: number): number {
    return openSync(this.#path(), constants.O_RDWR | flags, 0o600)
  }
}
