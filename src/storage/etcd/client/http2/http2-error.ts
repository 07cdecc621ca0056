/** Errors of HTTP/2. */

/** The names of the codes, which are their indices (RFC 9113, section 7). */
export const http2Codes = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const

export type Http2Code = (typeof http2Codes)[number]

/** The peer broke the protocol, or ended the connection because of an error. */
export class Http2Error extends Error {
  readonly code: Http2Code

  constructor(code: Http2Code, message: string) {
    super(message)
    this.name = 'Http2Error'
    this.code = code
  }
}

/** Returns the name of a code that was received. Unknown ones count as INTERNAL_ERROR. */
export const codeNamed = (code: number): Http2Code => http2Codes[code] ?? 'INTERNAL_ERROR'
