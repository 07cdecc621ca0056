/**
 * One of the streams that share a connection. Back-pressure is end to end: if its reader stops, the connection is read
 * no further, and a write is complete when the connection has taken it.
 */
import { Duplex } from 'node:stream'

/** Sends the data of one stream over the shared connection. */
export interface Carrier {
  /** Calls `sent` when the connection has taken the data. */
  send(data: Buffer, sent: () => void): void
  /** Announces that no data follows. */
  sendEnd(sent: () => void): void
  /** Called once, when the stream is destroyed; `isComplete` if its end was announced. */
  closed(isComplete: boolean): void
}

/** The number of bytes that are buffered for a reader before its connection pauses. */
const bufferBytes = 64 * 1024

export class Substream extends Duplex {
  readonly #carrier: Carrier
  #drained: PromiseWithResolvers<void> | undefined
  #hasEnded = false
  #isConnected = true

  constructor(carrier: Carrier) {
    super({ highWaterMark: bufferBytes })
    this.#carrier = carrier
    // A stream that fails ends alone; the connection and its other streams go on.
    this.on('error', () => {})
  }

  /** Delivers data from the client. Returns a promise if the connection must deliver nothing until that resolves. */
  deliver(data: Buffer): Promise<void> | undefined {
    if (this.#hasEnded || this.destroyed || data.length === 0 || this.push(data)) return undefined
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  /** Ends the data from the client. */
  deliverEnd(): void {
    if (this.#hasEnded || this.destroyed) return
    this.#hasEnded = true
    this.push(null)
  }

  /** Ends the stream with its connection. Delivered data can still be read. */
  disconnect(): void {
    this.#isConnected = false
    this.deliverEnd()
    this.#resumeConnection()
    if (this.readableEnded || this.writableLength > 0) this.destroy()
    else this.once('end', () => this.destroy())
  }

  override _read(): void {
    this.#resumeConnection()
  }

  override _write(data: Buffer, _encoding: BufferEncoding, written: () => void): void {
    if (this.#isConnected) this.#carrier.send(data, written)
    else this.destroy()
  }

  override _final(ended: () => void): void {
    if (this.#isConnected) this.#carrier.sendEnd(ended)
    else ended()
  }

  override _destroy(error: Error | null, destroyed: (error: Error | null) => void): void {
    this.#resumeConnection()
    this.#carrier.closed(this.writableFinished)
    destroyed(error)
  }

  #resumeConnection(): void {
    this.#drained?.resolve()
    this.#drained = undefined
  }
}
