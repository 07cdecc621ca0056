/** A stream of a SPDY connection, opened by the client. */
import { type Carrier, Substream } from '../substream.ts'
import type { SpdyHeaders } from './spdy-headers.ts'

export class SpdyStream extends Substream {
  readonly id: number
  readonly headers: SpdyHeaders

  constructor(id: number, headers: SpdyHeaders, carrier: Carrier) {
    super(carrier)
    this.id = id
    this.headers = headers
  }
}
