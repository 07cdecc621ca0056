/** Requests over plain HTTPS that return the authenticated user. */
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import type { Reach } from '../support/reachable-cluster.ts'

export interface Asked {
  readonly headers?: OutgoingHttpHeaders
  readonly cert?: string
  readonly key?: string
  /** The CA and the server name, if they differ from the cluster's. */
  readonly ca?: string
  readonly servername?: string
  readonly method?: string
  readonly path?: string
  readonly body?: object
}

export interface AuthenticatedAs {
  readonly code: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Undefined if the request was rejected. */
  readonly user: { username: string; uid?: string; groups: string[]; extra?: Record<string, string[]> } | undefined
}

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }

/** Sends a request without the default credentials. Default: a SelfSubjectReview. */
export async function ask(
  cluster: Reach,
  { headers = {}, cert, key, servername, method = 'POST', path, body, ...other }: Asked,
): Promise<AuthenticatedAs> {
  const { url } = cluster.client
  const sent = request(new URL(path ?? '/apis/authentication.k8s.io/v1/selfsubjectreviews', url), {
    ca: other.ca ?? cluster.client.ca,
    cert,
    key,
    ...(servername && { servername }),
    method,
    agent: false,
    headers: { ...headers, 'content-type': 'application/json' },
  })
  const [response]: IncomingMessage[] = await once(
    sent.end(method === 'GET' ? undefined : JSON.stringify(body ?? review)),
    'response',
  )
  const text = Buffer.concat(await response!.toArray()).toString()
  const answer = text.startsWith('{') ? JSON.parse(text) : {}
  return { code: response!.statusCode, headers: response!.headers, text, user: answer.status?.userInfo }
}

export const bearer = (token: string): Asked => ({ headers: { authorization: `Bearer ${token}` } })

/** Anonymous users may not create SelfSubjectReviews. */
export const isAnonymous = ({ code, text }: AuthenticatedAs): boolean =>
  code === 403 && text.includes('User \\"system:anonymous\\" cannot create')
