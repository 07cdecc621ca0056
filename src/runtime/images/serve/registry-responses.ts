/** Error responses of registries, with the codes of the OCI distribution specification. */
import type { ServerResponse } from 'node:http'

export function respondError(response: ServerResponse, status: number, code: string, message: string): void {
  const body = JSON.stringify({ errors: [{ code, message }] })
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body)
}
