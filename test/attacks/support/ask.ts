/** Sends one request as the administrator on a new HTTP/2 connection. */
import { connect } from 'node:http2'
import { type AttackedServer, token } from './attacked-server.ts'

export interface Answer {
  readonly status: number
  readonly text: string
}

export function ask(
  server: AttackedServer,
  method: string,
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const session = connect(server.url, { ca: server.ca, maxSessionMemory: 100 })
  session.on('error', () => {})
  const stream = session.request(
    {
      ':method': method,
      ':path': path,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...headers,
    },
    { endStream: false },
  )
  return new Promise((resolve, reject) => {
    let status = 0
    const chunks: Buffer[] = []
    stream.on('response', (received) => {
      status = received[':status'] ?? 0
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => {
      session.destroy()
      resolve({ status, text: Buffer.concat(chunks).toString() })
    })
    stream.end(body)
  })
}
