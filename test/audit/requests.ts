/** Requests with arbitrary headers, for tests of their audit events. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Reach } from '../support/reachable-cluster.ts'

export interface Answered {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

export async function ask(
  cluster: Reach,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<Answered> {
  const { ca, url } = cluster.client
  const sent = request(new URL(url).origin + path, {
    method,
    ca,
    agent: false,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
  })
  const [response] = (await once(sent.end(body), 'response')) as [IncomingMessage]
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(await response.toArray()).toString(),
  }
}

export const jane = { authorization: 'Bearer jane' }
