/** One forwarded connection: a stream for its data, and one for an error. */
import { finished } from 'node:stream/promises'
import { messageOf } from '../../../lib/message-of.ts'
import type { PodReference } from '../container-streams.ts'
import type { Substream } from '../substream.ts'
import type { ForwardPort } from './serve-port-forward.ts'

export interface StreamPair {
  readonly data: Substream
  readonly error: Substream
}

/** Forwards a connection, and ends both streams after it. Never rejects. */
export async function forwardPair(
  { data, error }: StreamPair,
  port: number,
  { namespace, name, uid }: PodReference,
  forward: ForwardPort,
): Promise<void> {
  error.resume()
  await forward(port, data).catch((why) => {
    error.write(`error forwarding port ${port} to pod ${name}_${namespace}, uid ${uid}: ${messageOf(why)}`)
  })
  for (const stream of [data, error]) stream.end()
  await Promise.allSettled([data, error].map((stream) => finished(stream, { readable: false })))
  // The client may not end its side: what it still sends is dropped.
  for (const stream of [data, error]) stream.destroy()
}
