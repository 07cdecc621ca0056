/** One direction of a TCP connection: moves bytes from one socket to the other, in the kernel. */

import { EAGAIN, EINTR, linux, type SocketCalls } from '../socket-calls.ts'
import { type Pipe, type Pipes, pipeSize } from './pipes.ts'

/** A socket, and whether the kernel has bytes or space for it. */
export interface StreamSocket {
  readonly fd: number
  isReadable: boolean
  isWritable: boolean
}

/** `more`: the flow has had its turn, and has more to do. `failed`: the connection is reset. */
export type FlowState = 'waiting' | 'more' | 'ended' | 'failed'

/** Steps after which other connections have their turn. */
const stepsPerTurn = 16
/** SHUT_WR. */
const noMoreBytes = 1

export class ByteFlow {
  readonly #calls: SocketCalls
  readonly #pipes: Pipes
  readonly #from: StreamSocket
  readonly #to: StreamSocket
  #pipe: Pipe | undefined
  /** Bytes in the pipe. */
  #waiting = 0
  #isAtEnd = false
  #hasEnded = false
  #isOtherEnded = false

  constructor(calls: SocketCalls, pipes: Pipes, from: StreamSocket, to: StreamSocket) {
    this.#calls = calls
    this.#pipes = pipes
    this.#from = from
    this.#to = to
  }

  /** Moves bytes until one of the sockets must wait. */
  advance(): FlowState {
    if (this.#hasEnded) return 'ended'
    for (let step = 0; step < stepsPerTurn; step++) {
      if (this.#waiting === 0 && !this.#fill()) return 'failed'
      if (this.#waiting === 0) return this.#isAtEnd ? this.#end() : 'waiting'
      if (!this.#drain()) return 'failed'
      if (this.#waiting > 0 && !this.#to.isWritable) return 'waiting'
    }
    return 'more'
  }

  /** Says the receiver that no more bytes follow, if that is so. Closing both sockets says it, too. */
  endOther(): void {
    if (!this.#hasEnded || this.#isOtherEnded) return
    this.#isOtherEnded = true
    // The other side may have closed already.
    this.#calls.shutdown(this.#to.fd, noMoreBytes)
  }

  /** Releases the pipe. */
  close(): void {
    if (!this.#pipe) return
    if (this.#waiting > 0) this.#pipes.close(this.#pipe)
    else this.#pipes.give(this.#pipe)
    this.#pipe = undefined
  }

  /** Fills the pipe. False if the connection has failed. */
  #fill(): boolean {
    if (!this.#from.isReadable || this.#isAtEnd) return true
    this.#pipe ??= this.#pipes.take()
    const count = this.#calls.splice(this.#from.fd, null, this.#pipe.write, null, pipeSize, linux.spliceFlags)
    if (count > 0) this.#waiting = count
    else {
      this.close()
      if (count === 0) this.#isAtEnd = true
      else if (!this.#mustWait()) return false
      else this.#from.isReadable = false
    }
    return true
  }

  /** Empties the pipe. False if the connection has failed. */
  #drain(): boolean {
    if (!this.#to.isWritable || !this.#pipe) return true
    const count = this.#calls.splice(this.#pipe.read, null, this.#to.fd, null, this.#waiting, linux.spliceFlags)
    if (count > 0) this.#waiting -= count
    else if (count === 0 || !this.#mustWait()) return false
    else this.#to.isWritable = false
    if (this.#waiting === 0) this.close()
    return true
  }

  #mustWait(): boolean {
    const errno = this.#calls.errno()
    return errno === EAGAIN || errno === EINTR
  }

  #end(): FlowState {
    this.#hasEnded = true
    return 'ended'
  }
}
