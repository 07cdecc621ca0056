/**
 * The state of a container's log as a file of 48 bytes, which is written after each addition to the log: a later
 * runtime removes an addition whose output it will add again.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { SpoolPosition } from './spool.ts'

/** The log at a moment. */
export interface LogPosition {
  /** Of the file; 0 without a log. */
  readonly inode: bigint
  /** In bytes. */
  readonly size: bigint
}

const start: SpoolPosition = { generation: 0, logged: 0 }
const fields = 6
const fieldBytes = 8

export class LogProgress {
  /** The state that the runtime before has written last. */
  readonly log: LogPosition | undefined
  readonly spools: readonly [stdout: SpoolPosition, stderr: SpoolPosition]
  readonly #file: number

  constructor(folder: string) {
    this.#file = openSync(join(folder, 'progress'), constants.O_RDWR | constants.O_CREAT, 0o600)
    const bytes = Buffer.alloc(fields * fieldBytes)
    const isKnown = readSync(this.#file, bytes, 0, bytes.length, 0) === bytes.length
    const [inode = 0n, size = 0n, ...rest] = new BigUint64Array(bytes.buffer, bytes.byteOffset, fields)
    const [outGeneration, outLogged, errGeneration, errLogged] = rest.map(Number)
    this.log = isKnown ? { inode, size } : undefined
    this.spools = isKnown
      ? [
          { generation: outGeneration!, logged: outLogged! },
          { generation: errGeneration!, logged: errLogged! },
        ]
      : [start, start]
  }

  /** Writes the state in one step. */
  save({ inode, size }: LogPosition, [stdout, stderr = start]: readonly SpoolPosition[]): void {
    const numbers = [stdout!.generation, stdout!.logged, stderr.generation, stderr.logged].map(BigInt)
    writeSync(this.#file, new BigUint64Array([inode, size, ...numbers]), 0, fields * fieldBytes, 0)
  }

  close(): void {
    closeSync(this.#file)
  }
}
