/** Ports of port-forward requests, with a kubelet's messages. */
import { HttpError } from '../../http-error.ts'

const maxPort = 65_535

/** Returns undefined for anything but a number from 1 to 65535. */
export function parsePort(text: string): number | undefined {
  const port = /^\d+$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= maxPort ? port : undefined
}

/** The ports in the query of a WebSocket request. Throws 400 if there are none, or invalid ones. */
export function portsOf(query: URLSearchParams): number[] {
  const values = query.getAll('port')
  if (values.length === 0) throw new HttpError(400, 'query parameter "port" is required')
  if (values.includes('')) throw new HttpError(400, 'query parameter "port" cannot be empty')
  return values.flatMap((value) =>
    value.split(',').map((text) => {
      const port = parsePort(text)
      if (port !== undefined) return port
      throw new HttpError(
        400,
        /^0+$/.test(text)
          ? `port ${JSON.stringify(value)} must be > 0`
          : `unable to parse ${JSON.stringify(value)} as a port: ${goParseError(text)}`,
      )
    }),
  )
}

/** The error of Go's `strconv.ParseUint` for 16 bits. */
const goParseError = (text: string): string =>
  `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${/^\d+$/.test(text) ? 'value out of range' : 'invalid syntax'}`
