/** Pipes that splice(2) moves bytes through. One is used while bytes wait in it, so few serve many connections. */
import { linux, type SocketCalls } from '../socket-calls.ts'

export interface Pipe {
  readonly read: number
  readonly write: number
}

/** Bytes of a pipe, and of one step of a transfer. The kernel grants them for a while, then smaller ones. */
export const pipeSize = 256 * 1024
const mostIdle = 32

export class Pipes {
  readonly #calls: SocketCalls
  readonly #idle: Pipe[] = []

  constructor(calls: SocketCalls) {
    this.#calls = calls
  }

  /** An empty pipe. @throws a `SystemCallError` if the process has too many open files. */
  take(): Pipe {
    const idle = this.#idle.pop()
    if (idle) return idle
    const { check, pipe, control } = this.#calls
    const ends = new Int32Array(2)
    check('pipe2', pipe(ends, linux.nonBlocking | linux.closeOnExec))
    const [read = -1, write = -1] = ends
    control(write, linux.setPipeSize, pipeSize)
    return { read, write }
  }

  /** Takes back an empty pipe. */
  give(pipe: Pipe): void {
    if (this.#idle.length < mostIdle) this.#idle.push(pipe)
    else this.close(pipe)
  }

  /** Closes a pipe with its bytes. */
  close({ read, write }: Pipe): void {
    this.#calls.close(read)
    this.#calls.close(write)
  }
}
