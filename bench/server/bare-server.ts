/**
 * A minimal server in Node: HTTP/2 over TLS, with a fixed response body. Its speed measures the current speed of the
 * machine. Arguments: certificate, key. Prints its port.
 */
import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'

const [cert = '', key = ''] = process.argv.slice(2)
const body = Buffer.from(JSON.stringify({ kind: 'Pod', padding: 'x'.repeat(2600) }))
const server = createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) })
server.on('stream', (stream) => {
  stream.on('error', () => {})
  stream.respond({ ':status': 200, 'content-type': 'application/json', 'content-length': body.length })
  stream.end(body)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
