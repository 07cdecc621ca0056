/** Port forwarding over SPDY/3.1: for each connection, the client opens an error stream and a data stream. */

import type { PodReference } from '../container-streams.ts'
import type { SpdyStream } from '../spdy/spdy-stream.ts'
import { acceptSpdy, type Upgrade } from '../upgrade.ts'
import { forwardPair } from './forward-pair.ts'
import { parsePort } from './ports.ts'
import type { ForwardPort } from './serve-port-forward.ts'

const versions = ['portforward.k8s.io']
/** How long a client may take to open both streams of a connection, in ms. */
const pairTimeoutMs = 30_000

export function forwardOverSpdy(upgrade: Upgrade, pod: PodReference, forward: ForwardPort): void {
  const pairs = new StreamPairs((data, error, port) => void forwardPair({ data, error }, port, pod, forward))
  acceptSpdy(upgrade, versions, (stream) => pairs.add(stream))
}

/** Finds the streams of the same connection. */
class StreamPairs {
  readonly #onPair: (data: SpdyStream, error: SpdyStream, port: number) => void
  /** Streams without their counterpart, by the ID of their connection. */
  readonly #waiting = new Map<string, { readonly stream: SpdyStream; readonly late: NodeJS.Timeout }>()

  constructor(onPair: (data: SpdyStream, error: SpdyStream, port: number) => void) {
    this.#onPair = onPair
  }

  /** Adds a stream. Resets one with invalid headers, and the second of the same type. */
  add(stream: SpdyStream): void {
    const { streamtype: type, port: portText = '' } = stream.headers
    const port = parsePort(portText)
    const id = connectionIdOf(stream)
    const waiting = this.#waiting.get(id)
    const other = waiting?.stream
    if (port === undefined || (type !== 'data' && type !== 'error') || other?.headers.streamtype === type) {
      stream.destroy()
      return
    }
    if (!waiting || !other) {
      this.#wait(id, stream)
      return
    }
    this.#forget(id)
    if (type === 'data') this.#onPair(stream, other, port)
    else this.#onPair(other, stream, port)
  }

  #wait(id: string, stream: SpdyStream): void {
    const late = setTimeout(() => stream.destroy(), pairTimeoutMs)
    this.#waiting.set(id, { stream, late })
    stream.on('close', () => {
      if (this.#waiting.get(id)?.stream === stream) this.#forget(id)
    })
  }

  #forget(id: string): void {
    clearTimeout(this.#waiting.get(id)?.late)
    this.#waiting.delete(id)
  }
}

/** Old clients do not send an ID; they open the data stream after the error stream. */
const connectionIdOf = ({ id, headers: { requestid, streamtype } }: SpdyStream): string =>
  requestid || `${streamtype === 'data' ? id - 2 : id}`
