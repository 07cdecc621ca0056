/** Requests as other users, impersonated by the administrator. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Reach } from '../support/reachable-cluster.ts'

export interface User {
  readonly name: string
  readonly groups?: readonly string[]
}

export interface Reply {
  readonly status: number
  /** The message of a Status; empty otherwise. */
  readonly message: string
  readonly body: Readonly<Record<string, unknown>>
}

/** The user of a kubelet. */
export const nodeUser = (name: string): User => ({ name: `system:node:${name}`, groups: ['system:nodes'] })

export async function as(
  { client }: Reach,
  user: User,
  method: string,
  path: string,
  body?: object,
  contentType = 'application/json',
): Promise<Reply> {
  const { ca, cert, key, url } = client
  const headers = {
    'impersonate-user': user.name,
    ...(user.groups && { 'impersonate-group': [...user.groups] }),
    ...(body && { 'content-type': contentType }),
  }
  const sent = request(new URL(path, url), { method, ca, cert, key, agent: false, headers })
  const [response] = (await once(sent.end(body && JSON.stringify(body)), 'response')) as [IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  const answer = (text.startsWith('{') ? JSON.parse(text) : {}) as Readonly<Record<string, unknown>>
  return {
    status: response.statusCode ?? 0,
    message: typeof answer.message === 'string' ? answer.message : '',
    body: answer,
  }
}

export const mergePatch = 'application/merge-patch+json'
